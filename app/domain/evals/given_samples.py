"""Rows of a run that samples no model: what their samples lack for the criteria. Pure.

Without this check, a row without an answer would be scored as an empty one: it fails most criteria
and passes those that ask for a difference or a short text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from app.domain.documents.pointers import Path
from app.domain.evals.data_sources import EvalRow
from app.domain.graders.effects.sample_reads import WHOLE, parts_read
from app.domain.graders.graders import read_grader
from app.domain.graders.templates.template_faults import SAMPLE_KEYS

GIVEN_KEYS: Final = tuple(key for key in (*SAMPLE_KEYS, "model") if key != "environment")
"""Keys of a sample that this service reads or derives; a row may have others of its own."""
_DERIVED: Final = frozenset(key for key in GIVEN_KEYS if key != "model")
"""Keys that a sample with an answer has, sent or derived from the answer."""
_SIMILARITY: Final = 0.8
_MAX_JUDGED: Final = 20
"""Unknown keys of a sample that are compared with the known ones."""
_CURE: Final = "send the answer as 'output_text' or 'choices'"


@dataclass(frozen=True, slots=True)
class CriterionNeeds:
    """The parts of a sample without which a criterion has nothing to score."""

    name: str
    parts: frozenset[str]


@dataclass(frozen=True, slots=True)
class GivenFault:
    """The reason for which a row cannot be graded."""

    path: Path
    """The place in the row."""
    reason: str


def needs_of(criteria: Iterable[dict[str, Any]]) -> Iterator[CriterionNeeds]:
    """Yields the needs of stored criteria, redacted or not; those that cannot be parsed today have
    none, because the run reports them.
    """
    for criterion in criteria:
        try:
            grader = read_grader(criterion)
        except ValueError:  # pydantic raises its two kinds
            continue
        parts = parts_read(grader)
        if parts:
            yield CriterionNeeds(grader.name, parts)


def given_fault(row: EvalRow, needs: Sequence[CriterionNeeds]) -> GivenFault | None:
    """Returns the first fault of a row whose sample came with it."""
    for key, value in (row.model_extra or {}).items():
        if value is not None:
            shown = f"a row has 'item' and 'sample', and nothing reads '{key[:80]}'"
            return GivenFault((key,), shown)
    return _misspelt(row.sample or {}) or _unanswered(row, needs)


def _misspelt(sample: dict[str, Any]) -> GivenFault | None:
    unknown = [key for key in sample if key not in GIVEN_KEYS]
    for key in unknown[:_MAX_JUDGED]:
        near = near_key(key[:80])
        if near is not None:
            reason = f"'{key[:80]}' is no part of a sample: did you mean '{near}'?"
            return GivenFault(("sample", key), reason)
    return None


@lru_cache(maxsize=4_096)
def near_key(key: str) -> str | None:
    """Returns the known key of a sample that an unknown one is probably a misspelling of."""
    near = get_close_matches(key.casefold(), GIVEN_KEYS, n=1, cutoff=_SIMILARITY)
    return near[0] if near else None


def _unanswered(row: EvalRow, needs: Sequence[CriterionNeeds]) -> GivenFault | None:
    """Returns the fault of a row that lacks a part that a criterion reads."""
    sample = {key: value for key, value in (row.sample or {}).items() if value is not None}
    answer_fault = _answer_fault(sample)
    present = sample.keys() | (frozenset() if answer_fault else _DERIVED)
    if "output_tools" in present:
        present |= {"tool_calls"}
    for each in needs:
        lacking = sorted(part for part in each.parts if part not in present)
        if WHOLE in lacking and sample:
            lacking.remove(WHOLE)
        if lacking:
            part = f".{lacking[0][:80]}" if lacking[0] else ""
            why = answer_fault if lacking[0] in (*_DERIVED, WHOLE) else "the sample has no such key"
            reason = f"'{each.name}' reads 'sample{part}', and {why}"
            return GivenFault(("sample",), reason)
    return None


def _answer_fault(sample: dict[str, Any]) -> str | None:
    """Returns why no answer can be read from a sample without nulls; `None` if there is one."""
    if not sample:
        return f"the row has no 'sample': {_CURE}"
    if "output_text" in sample:
        return None
    if "choices" not in sample:
        return f"the sample has no answer: {_CURE}"
    choices = sample["choices"]
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict) or not {"content", "tool_calls", "refusal"} & message.keys():
        return "'choices' has no message with 'content' or 'tool_calls', as chat completions have"
    if not isinstance(message.get("content"), str | None):
        return "the 'content' of the message in 'choices' is not a text"
    return None
