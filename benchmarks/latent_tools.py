"""A look-up tool that takes a log-normal time, and a model that has learned to use it.

The service reaches the tool as a customer's would be reached, by signed HTTP; TRL gets a function,
its form of a tool.
"""

import asyncio
import json
import math
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.chat_template_utils import get_json_schema

from tests.support.endpoints import ReceivedRequest, Reply, endpoint_in_thread
from tests.support.rollout.rollouts import caller, egress_to, pool
from workers.environments.tool_environment import HttpTools

MEDIAN_S: Final = 0.050
SIGMA: Final = 1.0
TOOL_TURNS: Final = 3
MAX_ANSWER: Final = 320
"""Limit of tokens of a whole answer, tool text included; a taught rollout has fewer."""
QUESTIONS: Final = tuple(
    (f"What is the weight of part P{number:03}?", f"P{number:03}") for number in (17, 101, 233, 350)
)


def look_up(record: str) -> str:
    """Returns the reply of the tool."""
    return f"record {record} weighs {sum(map(ord, record))} g"


class LatentTools:
    """The tool on a port of its own; a context manager."""

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed
        self._stack = ExitStack()
        self._http = self._latencies()
        self.http_calls = self.function_calls = 0

    def __enter__(self) -> Self:
        self._server = self._stack.enter_context(endpoint_in_thread(self._answer))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def caller(self) -> HttpTools:
        self._egress = egress_to(self._server)
        return caller(pool(self._egress), {"lookup": self._server.url("/tools")})

    async def aclose(self) -> None:
        """Closes the caller's connections, on the loop that used them."""
        await self._egress.aclose()

    def function(self, *, concurrent: bool = False) -> Callable[..., Any]:
        """Returns the tool in TRL's form; with `concurrent` it is an async function."""
        latencies = self._latencies()
        if concurrent:

            async def lookup(record: str) -> str:
                """Reads a record.

                Args:
                    record: The number of the record.

                """
                self.function_calls += 1
                await asyncio.sleep(latencies())
                return look_up(record)

        else:

            def lookup(record: str) -> str:  # type: ignore[misc]  # the other form of one tool
                """Reads a record.

                Args:
                    record: The number of the record.

                """
                self.function_calls += 1
                time.sleep(latencies())
                return look_up(record)

        return lookup

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = get_json_schema(self.function())
        return schema

    def _latencies(self) -> Callable[[], float]:
        rng = random.Random(self._seed)
        return lambda: rng.lognormvariate(math.log(MEDIAN_S), SIGMA)

    def _answer(self, request: ReceivedRequest) -> Reply:
        self.http_calls += 1
        arguments = request.json["arguments"]
        record = (json.loads(arguments) if isinstance(arguments, str) else arguments)["record"]
        return Reply(json={"output": look_up(record)}, delay_s=self._http())


def teach(model_dir: Path, directory: Path, *, steps: int = 150, enough: float = 0.01) -> Path:
    """Trains M1 on the conversations until the mean loss is below `enough`, so that it has
    memorised them.
    """
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=torch.float32)
    schema = get_json_schema(LatentTools().function())
    rows: list[Any] = [
        tokenizer.apply_chat_template(conversation(*question), tools=[schema], return_dict=False)
        for question in QUESTIONS
    ]
    width = max(map(len, rows))
    ids_BT = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    labels_BT = torch.tensor([row + [-100] * (width - len(row)) for row in rows])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # steps this small spend their time on waking threads
    loss = torch.tensor(torch.inf)
    for _ in range(steps):
        loss = model(input_ids=ids_BT, labels=labels_BT, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if float(loss) < enough:
            break
    else:
        raise RuntimeError(f"the model has not learned its conversations: loss {float(loss):.3f}")
    torch.set_num_threads(threads)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory


def conversation(question: str, record: str) -> list[dict[str, Any]]:
    call = {"type": "function", "function": {"name": "lookup", "arguments": {"record": record}}}
    turn: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "lookup", "content": look_up(record)},
    ]
    answer = {"role": "assistant", "content": f"It weighs {sum(map(ord, record))} g."}
    return [{"role": "user", "content": question}, *turn * TOOL_TURNS, answer]
