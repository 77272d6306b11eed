"""Compares the values at the keys of a judge's JSON that decide a score.

Promises plain values, which are equal for equal verdicts however they are written and take no more
room than the JSON: a number, a text, or the scores of rollouts by their ids. All other values are
one, so that nothing within them is looked at. Pure.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any, Final

from app.grading.score_bounds import finite
from app.grading.texts.json_in_text import object_of, objects_in

VERDICTS: Final = ("result", "score", "scores")
"""The keys of a judge's JSON that decide a score."""

Plain = float | str | None
"""A number, another text, or `None` for a value that is no score."""
_PLAIN: Final = re.compile(r"[-+\u2212]?(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})", re.ASCII)
_ID: Final = re.compile(
    r"(?:(?:rollout|trajectory|id)[ _#:-]{0,3}|#)?0*+(?P<number>[1-9][0-9]{0,8})(?:\.0)?",
    re.IGNORECASE,
)
JudgeVerdict = tuple[str, Plain | frozenset[tuple[str, Plain]]]
"""The key of a verdict, and its value or the scores of its rollouts in any order."""


def verdicts_of(value: Any) -> frozenset[JudgeVerdict]:
    """Returns the verdicts of an object, equal for equal ones however they are written."""
    found = object_of(value)
    return frozenset((key, _plain(found[key])) for key in VERDICTS if key in found)


def has_key_within(values: Iterable[Any], keys: Collection[str]) -> bool:
    """Returns whether an object at any depth of the values has one of the keys."""
    return any(not one.keys().isdisjoint(keys) for one in objects_in([*values]))


def number_in(value: Any) -> float | None:
    """Returns the finite number that is the value, or that its text is in plain digits; `None` for
    any other. A spelling that a comparison with the judged answer does not know (`$10`) is none.
    """
    if isinstance(value, str):
        found = _PLAIN.fullmatch(value.strip())
        return None if found is None else finite(float(found[0].replace("\u2212", "-")))
    return finite(value)


def _plain(value: Any) -> Plain | frozenset[tuple[str, Plain]]:
    if isinstance(value, list):
        entries = map(object_of, value)
        return frozenset(
            (rollout_id(one.get("id")), number_in(one.get("score"))) for one in entries
        )
    number = number_in(value)
    return value if number is None and isinstance(value, str) else number


def rollout_id(value: Any) -> str:
    """Returns an id as a judge was shown it, for one that it writes as a number, with zeros in
    front of it, or behind a word (`1.0`, `"01"`, `"rollout 1"`); any other text as it is.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    found = _ID.fullmatch(text)
    return text if found is None else found["number"]
