"""Measures whether a base model follows the schema in its prompt: the records task, renamed.

Samples one rollout per validation row of the records agent with its own tools, then with renamed
tools and arguments, swapped arguments, further tools and a system prompt. Prints for each naming
the mean reward, its ratio to the original names' with a 95 % interval (bootstrap over rows), the
share of rollouts with a right answer, with a call, and of malformed or unfinished turns.

    python benchmarks/renamed_tools.py [--model DIR] [--rows 500] [--only unheard] [--seed 0]
"""

import argparse
import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from app.rollouts.tool_formats import Hermes  # noqa: E402 - the path is set up above
from benchmarks.tool_namings import NAMINGS, Naming  # noqa: E402 - as above
from examples.records_agent.dataset import make_rows  # noqa: E402 - as above
from examples.records_agent.grading import RecordedCall, grade  # noqa: E402 - as above
from examples.records_agent.records import Catalogue, build_catalogue  # noqa: E402 - as above
from examples.records_agent.tools import ERROR, call_tool  # noqa: E402 - as above

SHIPPED = REPOSITORY / "workers" / "base_models" / "tiny_agent"
TURN_TOKENS, STEPS, BATCH = 120, 12, 250


@dataclass
class Episode:
    row: dict[str, Any]
    messages: list[dict[str, Any]]
    calls: list[RecordedCall] = field(default_factory=list)
    answer: str | None = None
    turns: int = 0
    broken: int = 0


class Sampler:
    """Samples turns at temperature 1 for many prompts at once."""

    def __init__(self, model: Path, seed: int) -> None:
        tokenizer = AutoTokenizer.from_pretrained(model)
        assert isinstance(tokenizer, PreTrainedTokenizerFast)
        self._tokenizer = tokenizer
        loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
        assert isinstance(loaded, PreTrainedModel)
        self._model = loaded
        self._model.train(mode=False)
        self._generator = torch.Generator().manual_seed(seed)

    def prompt(self, episode: Episode, tools: list[dict[str, Any]]) -> list[int]:
        text = self._tokenizer.apply_chat_template(
            episode.messages, tools=[*tools], tokenize=False, add_generation_prompt=True
        )
        ids: list[int] = self._tokenizer.encode(str(text), add_special_tokens=False)
        return ids

    @torch.inference_mode()
    def turns(self, prompts: list[list[int]]) -> list[tuple[str, bool]]:
        """Returns for each prompt the text of a turn and whether it came to its end."""
        end, pad = int(self._tokenizer.eos_token_id), int(self._tokenizer.pad_token_id)
        longest = max(map(len, prompts))
        ids_BT = torch.tensor([[pad] * (longest - len(p)) + p for p in prompts])
        mask_BT = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
        sampled_ids: list[list[int]] = [[] for _ in prompts]
        active = torch.arange(len(prompts))
        cache = DynamicCache()
        position_BT = (mask_BT.cumsum(-1) - 1).clamp(min=0)
        for _ in range(TURN_TOKENS):
            next_B = self._next(ids_BT, mask_BT, position_BT, cache)
            for index, token in zip(active.tolist(), next_B.tolist(), strict=True):
                sampled_ids[index].append(token)
            going = (next_B != end).nonzero().squeeze(-1)
            if not len(going):
                break
            cache.batch_select_indices(going)
            active, ids_BT = active[going], next_B[going][:, None]
            mask_BT = torch.cat([mask_BT[going], torch.ones_like(ids_BT)], dim=-1)
            position_BT = mask_BT.sum(-1, keepdim=True) - 1
        return [
            (str(self._tokenizer.decode(s, skip_special_tokens=True)), s[-1] == end)
            for s in sampled_ids
        ]

    def _next(self, ids: Tensor, mask: Tensor, positions: Tensor, cache: DynamicCache) -> Tensor:
        logits_BTV = self._model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            logits_to_keep=1,
        ).logits
        probabilities = logits_BTV[:, -1].softmax(-1)
        return torch.multinomial(probabilities, 1, generator=self._generator).squeeze(-1)


def answer_call(naming: Naming, catalogue: Catalogue, name: str, arguments: str) -> RecordedCall:
    """Answers a call like the records agent, after mapping it to the agent's own tools."""
    tool = next((t for t in naming.tools if t.name == name), None)
    if tool is None or not tool.stands_for:
        return RecordedCall(name, arguments, f"{ERROR}no tool {name}")
    given = json.loads(arguments)
    usual = dict(zip(tool.parameters, tool.usual, strict=True))
    own = json.dumps({usual.get(key, f"not {key}"): value for key, value in given.items()})
    output = call_tool(catalogue, tool.stands_for, own)
    return RecordedCall(tool.stands_for, own, output)


def take_turn(
    episode: Episode, naming: Naming, catalogue: Catalogue, text: str, *, ended: bool
) -> None:
    parsed = Hermes().parse(text, ())
    episode.turns += 1
    episode.broken += not ended or ("tool_call" in text and not parsed.tool_calls)
    if not ended or not parsed.tool_calls:
        episode.answer = text if ended else ""
        return
    calls = [{"name": c.name, "arguments": c.arguments_json} for c in parsed.tool_calls]
    episode.messages.append(
        {
            "role": "assistant",
            "content": parsed.content or "",
            "tool_calls": [{"type": "function", "function": c} for c in calls],
        }
    )
    for call in calls:
        recorded = answer_call(naming, catalogue, call["name"], call["arguments"])
        episode.calls.append(recorded)
        episode.messages.append({"role": "tool", "content": recorded.output})


def play(sampler: Sampler, naming: Naming, catalogue: Catalogue, rows: list[Any]) -> list[Episode]:
    system = [{"role": "system", "content": naming.system}] if naming.system else []
    schemas = [tool.schema() for tool in naming.tools]
    episodes = [Episode(row, [*system, *row["messages"]]) for row in rows]
    for _ in range(STEPS):
        open_ones = [e for e in episodes if e.answer is None]
        for start in range(0, len(open_ones), BATCH):
            batch = open_ones[start : start + BATCH]
            sampled_ids = sampler.turns([sampler.prompt(e, schemas) for e in batch])
            for episode, (text, ended) in zip(batch, sampled_ids, strict=True):
                take_turn(episode, naming, catalogue, text, ended=ended)
    return episodes


def interval(rewards: list[float], originals: list[float], seed: int) -> tuple[float, float]:
    """Returns the 95 % interval of the ratio of two means, from 2,000 draws of the same rows."""
    rng = random.Random(seed)
    ratios = []
    for _ in range(2000):
        drawn = rng.choices(range(len(rewards)), k=len(rewards))
        below = fmean(originals[i] for i in drawn)
        ratios.append(fmean(rewards[i] for i in drawn) / below if below else 0.0)
    ratios.sort()
    return ratios[50], ratios[1949]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="namings whose title contains this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    catalogue = build_catalogue()
    rows = make_rows(catalogue, "validation", options.rows, seed=options.seed)
    originals: list[float] = []
    report = {}
    print(f"{'naming':26} reward  ratio   95 % interval  right  calls  broken")
    for naming in NAMINGS:
        if originals and options.only not in naming.title:
            continue
        sampler = Sampler(options.model, options.seed)
        episodes = play(sampler, naming, catalogue, rows)
        results = [grade(e.answer or "", e.row, e.calls) for e in episodes]
        rewards = [result.score for result in results]
        originals = originals or rewards
        low, high = interval(rewards, originals, options.seed)
        line = {
            "reward": fmean(rewards),
            "ratio": fmean(rewards) / (fmean(originals) or 1.0),
            "low": low,
            "high": high,
            "right": fmean(result.correct for result in results),
            "calling": fmean(bool(e.calls) for e in episodes),
            "broken": sum(e.broken for e in episodes) / sum(e.turns for e in episodes),
        }
        report[naming.title] = {key: round(value, 3) for key, value in line.items()}
        print(
            f"{naming.title:26} {line['reward']:6.3f} {line['ratio']:6.2f}"
            f"   {low:5.2f} … {high:4.2f}   {line['right']:6.3f} {line['calling']:6.3f}"
            f" {line['broken']:7.3f}",
            flush=True,
        )
    print(json.dumps({"model": str(options.model), "rows": len(rows), "namings": report}))


if __name__ == "__main__":
    main()
