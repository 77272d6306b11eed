"""Finds the known name for a misspelt one."""

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from app.kit.errors import InvalidRequest

_LIKELIEST: Final = 3
"""Number of most similar names whose edit distance to a key is computed."""
_A_THIRD: Final = 3
_BEGINNING: Final = 3
"""Smallest number of characters of a key that may abbreviate a name."""


def nearest_name(key: str, known: Collection[str], likeness: float) -> str | None:
    """Returns the name that is most similar to a key, if at most a third of its characters differ:
    by `likeness` alone, `grader` would match `headers`.
    """
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - rapidfuzz loads only where it is used

    for name in get_close_matches(key, known, n=_LIKELIEST, cutoff=likeness):
        if OSA.distance(key, name) <= max(len(key), len(name)) // _A_THIRD:
            return name
    return None


def name_like(key: str, known: Collection[str], likeness: float) -> str | None:
    """Returns the name that is most similar to a key, or that begins with the key."""
    begun = (name for name in known if len(key) >= _BEGINNING and name.startswith(key))
    return nearest_name(key, known, likeness) or next(begun, None)


def has_words(name: str, key: str) -> bool:
    """Returns whether each word of a key begins a word of a name, like `max_steps` and
    `max_episode_steps`.
    """
    words, of_name = key.split("_"), name.split("_")
    begin = all(any(each.startswith(word) for each in of_name) for word in words)
    return len(key) >= _BEGINNING and begin


IssueSeverity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class PreflightIssue:
    """One fault. An error means that the job would be refused or fail; a warning that it would run
    badly.
    """

    severity: IssueSeverity
    code: str
    message: str
    param: str | None = None
    """The create call's parameter, dotted: `method.reinforcement.tools[0].server_url`."""
    line: int | None = None
    """Line of the file, from 1."""
    pointer: str | None = None
    """JSON pointer (RFC 6901) into that line."""


def moved_fault(fault: InvalidRequest, root: str, new: str) -> InvalidRequest:
    """Returns the error of a parameter below `root` as one below `new`, in its message too."""
    param = fault.param
    if param is not None and (param == root or param.startswith((f"{root}.", f"{root}["))):
        param = new + param.removeprefix(root)
    return InvalidRequest(
        fault.message.replace(f"'{root}", f"'{new}"), param=param, code=fault.code
    )


CONSTANT_GRADER: Final = "constant_grader"
UNUSED_OPTION: Final = "unused_option"


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A part of a call that changes nothing."""

    code: str
    param: str
    message: str


def unused_option(param: str, why: str) -> NoEffect:
    """Returns the finding about an option that changes nothing, with the reason."""
    return NoEffect(UNUSED_OPTION, param, f"'{param}' changes nothing: {why}")
