"""A stateful environment for tests: a number to guess, by tool calls or in plain text."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from app.files.datasets import DatasetRow
from app.kit.ids import SampleKey
from app.tools.tools import ToolOutcome
from tests.support.rollout.rollouts import schema
from workers.journal import Journal
from workers.rollout.environment import (
    AssistantTurn,
    CallPosition,
    Observation,
    Reply,
    StepResult,
    ToolReply,
    UserReply,
)

GUESS = schema("guess", n="integer")
RULES = {"role": "system", "content": "Guess a number from 0 to 99."}
Hook = Callable[[], Awaitable[None]]


async def _nothing() -> None:
    """Neither fails nor waits."""


@dataclass
class GuessingGame:
    """Implements `Environment`: knows the number of its row and the guesses so far.

    A right guess ends the episode. `on_reset` and `on_step` run first and may fail or wait.
    """

    on_reset: Hook = _nothing
    on_step: Hook = _nothing
    step_s: float = 0.0
    resets: list[SampleKey] = field(default_factory=list)
    turns: list[AssistantTurn] = field(default_factory=list)
    closed: int = 0
    _secret: int = 0
    _guesses: int = 0

    async def reset(
        self,
        row: DatasetRow,
        key: SampleKey,
        *,
        journal: Journal,  # noqa: ARG002 - a local game gives the same answers again
    ) -> Observation:
        self.resets.append(key)
        await self.on_reset()
        self._secret = row.item["secret"]
        return Observation([RULES, *row.messages], [GUESS])

    async def step(self, turn: AssistantTurn) -> StepResult:
        self.turns.append(turn)
        await self.on_step()
        if not turn.tool_calls:
            text, right = self._read(turn.content)
            return StepResult((UserReply(text),), done=right, elapsed_s=self.step_s)
        replies: list[Reply] = []
        done = False
        for number, call in enumerate(turn.tool_calls):
            text, right = self._answer(json.loads(call.arguments_json)["n"])
            done |= right
            position = CallPosition(self.resets[-1], turn.index, number)
            outcome = ToolOutcome(text, None, 0.25, 0)
            replies.append(ToolReply(position, call.name, call.arguments_json, outcome))
        return StepResult(tuple(replies), done=done, elapsed_s=self.step_s)

    async def close(self) -> None:
        await asyncio.sleep(0)  # an implementation awaits here, also after a cancellation
        self.closed += 1

    def _read(self, content: str) -> tuple[str, bool]:
        found = re.search(r"[0-9]+", content)
        return self._answer(int(found[0])) if found else ("Write a number.", False)

    def _answer(self, guess: int) -> tuple[str, bool]:
        self._guesses += 1
        if guess == self._secret:
            return f"Right, after {self._guesses} guesses.", True
        return f"{self._guesses}: {'higher' if guess < self._secret else 'lower'}", False


def game_row(secret: int, **extras: Any) -> DatasetRow:
    messages = [{"role": "user", "content": "Begin."}]
    return DatasetRow(5, messages, [], {"messages": messages, "secret": secret, **extras})
