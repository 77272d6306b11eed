"""The customer's own rule for the score of a rollout.

Owns the score: one point for the exact answer, less a little for every call that a careful clerk
would not have made. Must not know HTTP or where the calls were kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from examples.records_agent.tools import ERROR

WASTE_PENALTY: Final = 0.2


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One tool call of a rollout as the tool server saw it."""

    name: str
    arguments: str
    output: str


@dataclass(frozen=True, slots=True)
class Grade:
    score: float
    correct: bool
    wasted_calls: int


def grade(output_text: str, item: dict[str, Any], calls: Sequence[RecordedCall]) -> Grade:
    """`item` is the whole dataset row; its `reference_answer` must be matched exactly."""
    reference = str(item.get("reference_answer", "")).strip()
    correct = bool(reference) and output_text.strip() == reference
    wasted = count_wasted(calls, reference, item.get("reference_tools") or ())
    score = max(0.0, float(correct) - WASTE_PENALTY * wasted)
    return Grade(score, correct, wasted)


def count_wasted(calls: Iterable[RecordedCall], reference: str, tools: Iterable[str]) -> int:
    """Calls that failed, repeated an earlier one, used a tool that the question does not need, or
    came after a reply had already shown the answer. No `tools` named means that any may be used.
    """
    needed = set(tools)
    seen: set[tuple[str, str]] = set()
    known = False
    wasted = 0
    for call in calls:
        key = (call.name, _canonical(call.arguments))
        misplaced = bool(needed) and call.name not in needed
        wasted += known or key in seen or misplaced or call.output.startswith(ERROR)
        seen.add(key)
        known = known or (call.output == reference and not misplaced)
    return wasted


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        return arguments
