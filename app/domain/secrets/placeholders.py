"""`[redacted]` in a definition that is sent back: it stands for the value that was there before.

Owns the rule: a placeholder keeps its value only while the address of its owner stays the same.
Otherwise somebody could read a secret by moving the object to an address of their own. Two objects
with one address may hold different values, which are never swapped. The work grows with the size of
the two definitions, never with its square.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.domain.errors import InvalidRequest
from app.domain.secrets.envelope import found_in
from app.domain.secrets.pointers import Path, parameter, pointer, put
from app.domain.secrets.urls import (
    REDACTED,
    has_placeholder,
    is_placeholder,
    shown_url,
    url_has_placeholder,
)
from app.domain.secrets.walk import Kind, Models, Place, places


@dataclass(frozen=True, slots=True)
class _Value:
    """One secret, or one text that shows `[redacted]`, and where it belongs."""

    owner: Path
    address: str | None
    below: Path
    """The secret's place below its owner."""
    value: Any
    shown: str
    place: Place
    needed: bool = False
    """The text is no value: it must not be used as it is."""

    @property
    def path(self) -> Path:
        return (*self.owner, *self.below)


_Key = tuple[str | None, Path, str]


class _Earlier:
    """The secrets of the definition before, indexed once."""

    def __init__(self, values: Iterable[_Value]) -> None:
        self._here: dict[tuple[Path, _Key], Any] = {}
        self._agreed: dict[_Key, list[Any]] = {}
        for one in values:
            key = (one.address, one.below, one.shown)
            self._here[(one.owner, key)] = one.value
            alike = self._agreed.setdefault(key, [one.value])
            if len(alike) == 1 and alike[0] != one.value:
                alike.append(one.value)

    def of(self, one: _Value) -> Any:
        """The value in the same place, else the only one at this address; `None` without one."""
        key = (one.address, one.below, one.shown)
        if (one.owner, key) in self._here:
            return self._here[(one.owner, key)]
        alike = self._agreed.get(key, [])
        return alike[0] if one.address is not None and len(alike) == 1 else None


def with_earlier_values(
    models: Models, definition: dict[str, Any], before: dict[str, Any], *, root: str
) -> dict[str, Any]:
    """A copy of `definition` with the values of `before`, which holds the real ones.

    Raises `InvalidRequest` for a placeholder without an earlier value; `root` is the parameter of
    the definition.
    """
    copy: dict[str, Any] = deepcopy(definition)
    known = list(places(models, before))
    addresses = _Earlier(_addresses(known))
    for one in _addresses(list(places(models, copy))):
        if one.needed:
            _put_earlier(copy, one, addresses, root)
    values = _Earlier(_secrets(known))
    for one in _placeholders(list(places(models, copy))):
        _put_earlier(copy, one, values, root)
    return copy


def with_earlier_url(url: str, before: str | None, *, param: str) -> str:
    """The URL that is meant: `before` where its shown form was sent back, else `url` itself.

    Raises `InvalidRequest` for a placeholder without an earlier value.
    """
    if before is not None and url == shown_url(before):
        return before
    if url_has_placeholder(url):
        raise InvalidRequest(
            _no_value_message(f"'{param}'", " for this address"), param=param, code="invalid_value"
        )
    return url


def refuse_placeholders(definition: BaseModel, *, root: str) -> None:
    """Raise `InvalidRequest` when a value that will be used reads `[redacted]`."""
    for fault in placeholder_faults(type(definition), definition, root=root):
        raise fault


def placeholder_faults(models: Models, value: Any, *, root: str) -> Iterator[InvalidRequest]:
    """An error per secret that reads `[redacted]`, known key or not; `value` may be wrong JSON."""
    walked = list(places(models, value))
    for one in _addresses(walked):
        if one.needed:
            yield _no_value(one, root)
    for one in _placeholders(walked):
        if one.needed:
            yield _no_value(one, root)


def _put_earlier(document: Any, one: _Value, known: _Earlier, root: str) -> None:
    earlier = known.of(one)
    if earlier is not None:
        put(document, pointer(one.path), earlier)
    elif one.needed:
        raise _no_value(one, root)


def _addresses(walked: Iterable[Place]) -> Iterator[_Value]:
    """Addresses by their shown form; a placeholder is matched by the text that was sent."""
    for place in walked:
        if place.kind is Kind.ADDRESS:
            needed = url_has_placeholder(place.value)
            shown = place.value if needed else shown_url(place.value)
            yield _Value(place.path, "", (), place.value, shown, place, needed)


def _owned(walked: list[Place]) -> Iterator[tuple[Place, Path, str | None]]:
    """Places outside addresses, each with its owner and the owner's address.

    Free-form JSON is sent to no address, so it has none and keeps its values wherever the owner is.
    """
    addresses: defaultdict[Path, str | None] = defaultdict(lambda: None)
    addresses |= {place.path[:-1]: place.value for place in walked if place.kind is Kind.ADDRESS}
    for place in walked:
        if place.kind not in (Kind.ADDRESS, Kind.JUDGE):
            owner = place.path[:-1]
            yield place, owner, None if place.kind is Kind.FREE_FORM else addresses[owner]


def _secrets(walked: list[Place]) -> Iterator[_Value]:
    for place, owner, address in _owned(walked):
        for path, value, shown in found_in(place):
            yield _Value(owner, address, path[len(owner) :], value, shown, place)


def _placeholders(walked: list[Place]) -> Iterator[_Value]:
    """Texts that read `[redacted]`. A plain one, such as a description, may be meant so."""
    for place, owner, address in _owned(walked):
        announced = {path for path, _, shown in found_in(place) if shown == REDACTED}
        for path, text in _texts(place.value, place.path):
            if has_placeholder(text):
                shown = REDACTED if is_placeholder(text) else text
                needed = path in announced or url_has_placeholder(text)
                yield _Value(owner, address, path[len(owner) :], text, shown, place, needed)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    waiting = [(path, value)]
    while waiting:
        at, one = waiting.pop()
        if isinstance(one, str):
            yield at, one
        elif isinstance(one, dict):
            waiting += [((*at, key), below) for key, below in one.items()]
        elif isinstance(one, list | tuple):
            waiting += [((*at, index), below) for index, below in enumerate(one)]


def _no_value(one: _Value, root: str) -> InvalidRequest:
    param = parameter(root, one.place.path)
    in_headers = one.place.path[-1] == "headers" and one.path != one.place.path
    last = str(one.path[-1])[:80]
    named = f"The header '{last}'" if in_headers else f"'{parameter(root, one.path)}'"
    where = " for this address" if one.address else ""
    return InvalidRequest(_no_value_message(named, where), param=param, code="invalid_value")


def _no_value_message(named: str, where: str) -> str:
    return f"{named} reads '{REDACTED}', and no value is known{where}: send its real value."
