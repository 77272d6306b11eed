"""Finds the meaning of a curve by its name, and the listed names nearest to an unknown one."""

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Final, Literal, get_args

from app.kit.errors import InvalidRequest
from app.kit.ids import Split
from app.rollouts import metrics as names
from app.rollouts.metrics import MEANINGS
from app.rollouts.trajectory import FailureClass

_COMPARED: Final = 80
"""Largest number of characters of an unknown name that are compared with the known ones."""
_SUGGESTED: Final = 5

_STANDS_FOR: Final = {
    "<tool>": "a tool's name",
    "<name>": "a component's name",
    "<child>": "the name of a child of a 'multi' grader",
    "<kind>": "a kind of error",
    "<flag>": f"an error flag ({', '.join(names.GRADER_ERROR_FLAGS)})",
    "<failure class>": f"a failure class ({', '.join(FailureClass)})",
}
JobPart = Literal["<tool>", "<child>", "<name>"]
_JOB_PARTS: Final[tuple[JobPart, ...]] = get_args(JobPart)
"""Placeholders for parts that depend on the job."""
_PLACEHOLDER: Final = re.compile("|".join(map(re.escape, _STANDS_FOR)))
"""A placeholder in a listed name."""

SPLITS: Final[Mapping[Split, str]] = MappingProxyType(
    {
        "train": "training rollouts or rows, at every step",
        "valid": "held-out rows, at every validation; step 0 is the model that training started "
        "from",
        "valid_greedy": "one rollout of each held-out row at temperature 0 (reinforcement)",
        "valid_base": "held-out rows under the base model, at step 0 of a job that starts from a "
        "tuned one",
        "report": "held-out rows sampled afresh for the report, under the published step and, as "
        "step 0, under the model that training started from (reinforcement)",
    }
)


_PARTS: Final = {
    "<tool>": "[^/]+",
    "<failure class>": "|".join(FailureClass),
    "<flag>": "|".join(names.GRADER_ERROR_FLAGS),
}
"""Regular expressions of the placeholders with a restricted syntax: a tool's name contains no
slash.
"""


def _pattern(name: str, allowed: Mapping[str, str] = _PARTS) -> re.Pattern[str]:
    """Returns the regular expression for names of this form."""
    parts = re.split(r"(<[^>]+>)", name)
    return re.compile(
        "".join(
            f"({allowed.get(part, '.+')})" if part.startswith("<") else re.escape(part)
            for part in parts
        ),
        re.DOTALL,
    )


_FORMS: Final = {name: _pattern(name, {}) for name in MEANINGS}
"""Regular expressions of names with any text in their parts, to find the name that was meant."""
_PATTERNS: Final = {name: _pattern(name) for name in MEANINGS if "<" in name}


def meaning(name: str) -> str | None:
    """Returns the meaning of a curve, or `None` for a name that is not on the list."""
    if name in MEANINGS:
        return MEANINGS[name]
    return next(
        (MEANINGS[form] for form, as_sent in _PATTERNS.items() if as_sent.fullmatch(name)), None
    )


def part_of(name: str) -> tuple[JobPart, str] | None:
    """Returns the part of a curve's name that is a tool, child or component of one job."""
    if name in MEANINGS:
        return None
    for form, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(name):
            parts = dict(zip(_PLACEHOLDER.findall(form), found.groups(), strict=True))
            return next(((part, parts[part]) for part in _JOB_PARTS if part in parts), None)
    return None


def check_names(sent: Iterable[str]) -> None:
    """Raises `InvalidRequest` for the first name that no job's curve can have."""
    wrong = (name for name in sent if _PLACEHOLDER.search(name) or meaning(name) is None)
    unknown = next(wrong, None)
    if unknown is None:
        return
    shown = unknown[:_COMPARED]
    nearest = sorted(
        MEANINGS,
        key=lambda name: (
            _FORMS[name].fullmatch(shown) is not None,
            SequenceMatcher(None, name, shown).ratio(),
        ),
        reverse=True,
    )
    suggested = nearest[:_SUGGESTED]
    listed = ", ".join(f"'{name}'" for name in suggested)
    parts = dict.fromkeys(part for name in suggested for part in _PLACEHOLDER.findall(name))
    cure = "".join(f" Put {_STANDS_FOR[part]} in place of '{part}'." for part in parts)
    raise InvalidRequest(
        f"Invalid value for 'names': no curve is called '{shown}'. Of {len(MEANINGS)} curves the "
        f"nearest are {listed}; the description of this call lists all.{cure}",
        param="names",
        code="invalid_value",
    )
