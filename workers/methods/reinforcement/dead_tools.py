"""Finds the tool that gave no usable answer to any call of a validation.

Its address, key or server is wrong: the model cannot learn by it, however easy the rows are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.kit.replies import CREDENTIALS_REFUSED, WRONG_ADDRESS
from app.rollouts.trajectory import Failure, FailureClass, ScoredRollout, ToolCallRecord
from app.tools.tool_calls import unread_status

_OF_TOOLS: Final = "tool_"
_ANSWERED: Final = "answered "
_NOT_FOUND: Final = frozenset(f"{_ANSWERED}{status:d}" for status in WRONG_ADDRESS)
_NO_ANSWERS: Final = frozenset({FailureClass.TOOL_UNREACHABLE, FailureClass.TOOL_BAD_REPLY})
_LEAST_CALLS: Final = 5
"""A working tool may answer 404 to a few calls, each with an id that does not exist."""


@dataclass(frozen=True, slots=True)
class DeadTool:
    name: str
    calls: int
    cause: str
    """What became of most calls, such as `answered 404`."""

    @property
    def reason(self) -> str:
        is_answer = self.cause.startswith(_ANSWERED)
        ended = f"was {self.cause}" if is_answer else f"had no answer: {self.cause}"
        calls = "1 call" if self.calls == 1 else f"{self.calls} calls"
        return f"No answer of a tool could be used: every call of `{self.name}` {ended} ({calls})"


def dead_tool(rollouts: Sequence[ScoredRollout]) -> DeadTool | None:
    causes = Counter[tuple[str, str]]()
    alive = set[str]()
    for rollout in rollouts:
        for call in rollout.trajectory.tool_calls:
            status = _wrong_address(call)
            if status is not None:
                causes[call.name, f"{_ANSWERED}{status}"] += 1
            elif call.attempts:
                alive.add(call.name)
        failure = rollout.failure
        if failure is not None and failure.failure_class.startswith(_OF_TOOLS):
            if _is_lasting(failure):
                causes[failure.source, failure.message] += 1
            else:
                alive.add(failure.source)
    for (name, cause), _ in causes.most_common():
        calls = sum(n for (of, _), n in causes.items() if of == name)
        if name not in alive and (calls >= _LEAST_CALLS or cause not in _NOT_FOUND):
            return DeadTool(name, calls, cause)
    return None


def _is_lasting(failure: Failure) -> bool:
    """Returns false for what a working server may say of one call, such as a 500. A redirect or a
    page in place of a reply is no answer to one call.
    """
    refused = failure.message.startswith(tuple(f"{_ANSWERED}{s:d}" for s in CREDENTIALS_REFUSED))
    return refused or failure.failure_class in _NO_ANSWERS


def _wrong_address(call: ToolCallRecord) -> int | None:
    status = unread_status(call.output, call.error)
    return status if status in WRONG_ADDRESS else None
