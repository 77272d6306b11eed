"""A model with turns of about a hundred words, and the agent whose tools it calls.

The model is M1, trained on random text: it writes random words until, by chance, it calls `lookup`
with random words or ends. Rollouts therefore differ in tokens, turns and calls although there is
nothing to learn, and the same seed gives the same rollouts in every mode. Each call waits a log-
normal time, ten times as long in a share of the rollouts or for a share of the prompts; the wait is
a pure function of the model's text. The grade is a coin toss, so that every group trains. Run as a
process, it prints {"url": …} once it listens.
"""

import asyncio
import hashlib
import json
import math
import random
import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fastapi import FastAPI, Request

from benchmarks.slow_agent import MEDIAN_S, SIGMA, SLOW_FACTOR, SLOW_SHARE, serve

WORDS_PER_TURN: Final = 100
CALL_SHARE: Final = 1 / 2
"""Share of turns that end in a call; the others end the rollout. One call a rollout, on average."""
PROMPT_WORDS: Final = 20
TOOL_WORDS: Final = 6
CONTEXT_LENGTH: Final = 4096
TAUGHT_TOKENS: Final = 512
NAME: Final = "talkative-2026-01-01"


def conversation(rng: random.Random, vocabulary: list[str]) -> list[dict[str, Any]]:
    """Returns one rollout of the training text, its prompt included."""

    def words(count: int) -> str:
        return " ".join(rng.choices(vocabulary, k=count))

    messages: list[dict[str, Any]] = [{"role": "user", "content": words(PROMPT_WORDS)}]
    while True:
        count = 1 + int(rng.expovariate(1 / WORDS_PER_TURN))
        turn: dict[str, Any] = {"role": "assistant", "content": words(count)}
        messages.append(turn)
        if rng.random() >= CALL_SHARE:
            return messages
        function = {"name": "lookup", "arguments": {"record": words(1)}}
        turn["tool_calls"] = [{"type": "function", "function": function}]
        messages.append({"role": "tool", "name": "lookup", "content": words(TOOL_WORDS)})


def teach(directory: Path, *, steps: int = 150, batch: int = 4) -> Path:
    """Trains M1 on the random text, in a minute or two. Returns its directory."""
    import torch  # noqa: PLC0415 - the agent's process has no use for it

    from benchmarks.tiny_models import build_m1, m1_tokenizer  # noqa: PLC0415 - torch loads only where it is used
    from tests.support.models.tiny_model import LOOKUP  # noqa: PLC0415 - as above

    tokenizer = m1_tokenizer()
    tokenizer.model_max_length = CONTEXT_LENGTH
    model = build_m1(max_position_embeddings=CONTEXT_LENGTH)
    vocabulary = single_tokens(tokenizer)
    rng = random.Random(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    model.train()
    for _ in range(steps):
        rows: list[Any] = [
            tokenizer.apply_chat_template(
                conversation(rng, vocabulary), tools=[LOOKUP], return_dict=False
            )[:TAUGHT_TOKENS]
            for _ in range(batch)
        ]
        width = max(map(len, rows))
        ids_BT = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        labels_BT = torch.tensor([row + [-100] * (width - len(row)) for row in rows])
        loss = model(input_ids=ids_BT, labels=labels_BT, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def single_tokens(tokenizer: Any, count: int = 24) -> list[str]:
    """Returns words that are one token after a space."""
    found: list[str] = []
    for token in sorted(tokenizer.get_vocab()):
        word = token.removeprefix("Ġ")
        if token.startswith("Ġ") and len(word) == 6 and word.isalpha() and word.isascii():
            found.append(word)
    return random.Random(0).sample(found, count)


def write_rows(model: Path, out: Path, *, train: int, valid: int) -> tuple[Path, Path]:
    """Writes the files of a job: prompts of random words, numbered so that no two are equal."""
    from transformers import AutoTokenizer  # noqa: PLC0415 - the agent's process has no use for it

    from tests.support.models.tiny_model import LOOKUP  # noqa: PLC0415 - torch loads only where it is used

    vocabulary = single_tokens(AutoTokenizer.from_pretrained(model))
    paths = (out / "talk-train.jsonl", out / "talk-valid.jsonl")
    for path, count in zip(paths, (train, valid), strict=True):
        rng = random.Random(path.name)
        lines = []
        for number in range(count):
            words = " ".join(rng.choices(vocabulary, k=PROMPT_WORDS))
            content = f"{path.stem} {number} {words}"
            row = {"messages": [{"role": "user", "content": content}], "tools": [LOOKUP]}
            lines.append(json.dumps(row) + "\n")
        path.write_text("".join(lines))
    return paths


class Latencies:
    """Latencies of calls, derived from the text of the rollout's first call or of its prompt."""

    def __init__(self, seed: int = 0, slow: str = "rollouts") -> None:
        self._seed = seed
        self._by_prompt = slow == "prompts"
        self._at_once = slow == "none"
        self._slow: dict[str, bool] = {}

    def next(self, trace_id: str, item: Any, arguments: str) -> float:
        if self._at_once:
            return 0.0
        draw = random.Random(json.dumps([self._seed, item, arguments], sort_keys=True))
        latency_s = draw.lognormvariate(math.log(MEDIAN_S), SIGMA)
        if self._by_prompt:
            draw = random.Random(json.dumps([self._seed, item], sort_keys=True))
        pace = draw.random() < SLOW_SHARE
        return latency_s * (SLOW_FACTOR if self._slow.setdefault(trace_id, pace) else 1.0)


def long_turns_app() -> FastAPI:
    app = FastAPI()
    state = {"latencies": Latencies()}

    @app.post("/restart")
    async def restart(seed: int, slow: str) -> None:
        state["latencies"] = Latencies(seed, slow)

    @app.post("/tools")
    async def tools(request: Request) -> dict[str, str]:
        call = await request.json()
        wait_s = state["latencies"].next(call["trace_id"], call["item"], call["arguments"])
        await asyncio.sleep(wait_s)
        words = json.loads(call["arguments"]).get("record", "")
        return {
            "type": "function_call_output",
            "id": call["id"],
            "call_id": call["call_id"],
            "output": f"{words} {words}",
        }

    @app.post("/grade")
    async def grade(request: Request) -> dict[str, float]:
        sample = (await request.json())["sample"]
        text = json.dumps(sample.get("output_text")).encode()
        return {"score": int.from_bytes(hashlib.sha256(text).digest()[:4]) / 2**32}

    return app


if __name__ == "__main__":
    serve(long_turns_app())
