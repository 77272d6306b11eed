"""`[redacted]` in a definition that is sent back: it stands for the value that was there before.

Owns the rule: a placeholder keeps its value only while the address of its owner stays the same.
Otherwise somebody could read a secret by moving the object to an address of their own. Two objects
with one address may hold different values, which are never swapped.
"""

from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.domain.errors import InvalidRequest
from app.domain.secrets.envelope import found_in
from app.domain.secrets.pointers import Path, parameter, pointer, put
from app.domain.secrets.urls import REDACTED, shown_url
from app.domain.secrets.walk import Kind, Models, Place, places


@dataclass(frozen=True, slots=True)
class _Value:
    """One secret and where it belongs."""

    owner: Path
    address: str | None
    below: Path
    """The secret's place below its owner."""
    value: Any
    place: Place


def with_earlier_values(
    models: Models, definition: dict[str, Any], before: dict[str, Any], *, root: str
) -> dict[str, Any]:
    """A copy of `definition` with the values of `before`, which holds the real ones.

    Raises `InvalidRequest` for a placeholder without an earlier value; `root` is the parameter of
    the definition.
    """
    copy: dict[str, Any] = deepcopy(definition)
    known = list(places(models, before))
    for place in list(places(models, copy)):
        if place.kind is Kind.ADDRESS and _is_placeholder(place.value):
            put(copy, pointer(place.path), _earlier_address(place, known, root))
    values = _values(known)
    for one in _values(list(places(models, copy))):
        if one.value == REDACTED:
            put(copy, pointer((*one.owner, *one.below)), _earlier(one, values, root))
    return copy


def refuse_placeholders(definition: BaseModel, *, root: str) -> None:
    """Raise `InvalidRequest` when a value that will be used reads `[redacted]`."""
    for place in places(type(definition), definition):
        if place.kind is Kind.ADDRESS and _is_placeholder(place.value):
            raise _no_value(place, place.path, root)
        if place.kind is Kind.SECRET:
            for path, secret, _ in found_in(place):
                if secret == REDACTED:
                    raise _no_value(place, path, root)


def _is_placeholder(url: str) -> bool:
    return REDACTED in url and shown_url(url) == url


def _earlier_address(place: Place, known: list[Place], root: str) -> str:
    """The earlier URL that is shown like this one: in the same place, else the only one."""
    alike = {
        one.path: str(one.value)
        for one in known
        if one.kind is Kind.ADDRESS and shown_url(one.value) == place.value
    }
    if place.path in alike:
        return alike[place.path]
    if len(set(alike.values())) == 1:
        return next(iter(alike.values()))
    raise _no_value(place, place.path, root)


def _earlier(one: _Value, known: list[_Value], root: str) -> Any:
    same = [other for other in known if other.address == one.address and other.below == one.below]
    here = next((other for other in same if other.owner == one.owner), None)
    if here is not None:
        return here.value
    agreed = {repr(other.value): other.value for other in same}
    if one.address is None or len(agreed) != 1:
        raise _no_value(one.place, (*one.owner, *one.below), root)
    return next(iter(agreed.values()))


def _values(walked: list[Place]) -> list[_Value]:
    """The secrets of a walk, but for those inside addresses."""
    addresses: defaultdict[Path, str | None] = defaultdict(lambda: None)
    addresses |= {place.path[:-1]: place.value for place in walked if place.kind is Kind.ADDRESS}
    return [
        _Value(owner, addresses[owner], path[len(owner) :], value, place)
        for place in walked
        if place.kind is not Kind.ADDRESS
        for owner in (place.path[:-1],)
        for path, value, _ in found_in(place)
    ]


def _no_value(place: Place, path: Path, root: str) -> InvalidRequest:
    param = parameter(root, place.path)
    named = f"The header '{path[-1]}'" if path != place.path else f"'{param}'"
    return InvalidRequest(
        f"{named} reads '{REDACTED}', and no value is known for this address: send its real value.",
        param=param,
        code="invalid_value",
    )
