"""Checks of arguments: a mistake is named where it is made, before a call."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

_DOTS = frozenset({".", ".."})
_Sent = TypeVar("_Sent")


def texts(name: str, values: Iterable[str]) -> list[str]:
    """Returns the texts as a list. Raises `TypeError` for one text, whose letters would be sent."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is a list of texts: [{values!r}]")
    found = list(values)
    for value in found:
        if not isinstance(value, str):
            raise TypeError(f"{name} is a list of texts; this holds a {type(value).__name__}")
    return found


def path_part(value: object) -> str:
    """Returns an id or a name that becomes a part of an address.

    Raises `TypeError` for another type, `ValueError` for a text that an address cannot hold.
    """
    if not isinstance(value, str):
        raise TypeError(f"an id or a name is a text; this is {type(value).__name__}")
    if not value or value in _DOTS:
        raise ValueError(f"an id or a name cannot be {value!r}")
    return value


def id_or(kind: type, value: object, what: str) -> str:
    """Returns the id of an object of this client, or the id that was given instead."""
    if isinstance(value, str):
        return value
    if isinstance(value, kind):
        found: str = value.id  # type: ignore[attr-defined]  # each noun of the client has one
        return found
    raise TypeError(f"a {what} is an object of this client or its id; this is {_described(value)}")


def mapping(name: str, value: object, example: str) -> dict[str, Any]:
    """Returns a part of a call that is an object."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is an object such as {example}; this is {_described(value)}")
    return dict(value)


def body(kind: type[_Sent], parts: Mapping[str, Any]) -> _Sent:
    """Returns the body of a call. Raises `TypeError` for parts of a wrong type."""
    try:
        made: _Sent = kind.from_dict(dict(parts))  # type: ignore[attr-defined]  # as generated
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        given = ", ".join(f"{name}={value!r:.60}" for name, value in parts.items())
        raise TypeError(f"a part of the call has a wrong type ({error}): {given}") from error
    return made


def _described(value: object) -> str:
    return f"{type(value).__name__} {value!r:.60}"
