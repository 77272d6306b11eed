"""Errors of wrong parameters: the dotted path of the refused value, and its message."""

from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.domain.documents.pointers import parameter
from app.domain.errors import InvalidRequest
from app.domain.faults.suggestions import NOWHERE, KeyHints
from app.domain.faults.values import refusal

_SPELLINGS: Final = 8
"""Number of parameters of one reply that are compared with known keys, each for up to 5 ms."""
_UNION_MEMBERS = ("constrained-", "literal[", "function-", "nullable[", "[key]", "dict[", "list[")


def first_fault(
    root: str, error: ValidationError, *, elsewhere: KeyHints = NOWHERE
) -> InvalidRequest:
    """Returns the first fault of the part of the body at path `root`."""
    return next(refusals(root, error.errors(include_url=False), elsewhere=elsewhere))


def refusals(
    root: str, faults: Iterable[ErrorDetails], *, elsewhere: KeyHints = NOWHERE
) -> Iterator[InvalidRequest]:
    """Yields one error for each parameter; a union reports a fault of every member it tried. Errors
    are made lazily: a body can have thousands. `elsewhere` are parameters for which an unknown key
    may have been meant.
    """
    by_param: dict[str, list[ErrorDetails]] = {}
    for fault in _without_echoes(list(faults)):
        by_param.setdefault(dotted_path(root, fault["loc"]), []).append(fault)
    params = set[str | None]()
    for number, (param, found) in enumerate(by_param.items()):
        refused = refusal(param, found, compared=number < _SPELLINGS, elsewhere=elsewhere)
        # A misspelt key is the fault of the missing name and of its own; the first has the cure.
        if refused.param not in params:
            params.add(refused.param)
            yield refused


def _without_echoes(faults: list[ErrorDetails]) -> list[ErrorDetails]:
    """Drops the fault of a too short list whose entries are faulty: pydantic does not count faulty
    entries, so the list may be long enough.
    """
    if not any(fault["type"] == "too_short" for fault in faults):
        return faults
    holders = {fault["loc"][:depth] for fault in faults for depth in range(len(fault["loc"]))}
    return [
        fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in holders
    ]


def dotted_path(root: str, location: tuple[int | str, ...]) -> str:
    """Returns `root.tools[0].server_url` for `("tools", 0, "server_url")`.

    pydantic appends the name of the tried member to the location of a union, and a mark to that of
    an invalid key; neither is a key of the body, so both are left out. Very long keys are cut.
    """
    if len(location) > 1 and str(location[-1]).startswith(_UNION_MEMBERS):
        location = location[:-1]
    return parameter(root, location)
