"""Replaces `[redacted]` in a definition that is sent back by the earlier value.

Owns the rule: a placeholder keeps its value only while the address of its owner stays the same.
Otherwise a caller could read a secret by changing the address to their own. Two objects with one
address may hold different values, which are never swapped. The work grows with the size of the two
definitions, never with its square.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from app.domain.documents.pointers import Path, parameter, pointer, replace_at
from app.domain.documents.walk import FieldKind, Models, WalkedField, walk_fields
from app.domain.errors import InvalidRequest
from app.domain.secrets.redaction import found_in
from app.domain.secrets.urls import (
    REDACTED,
    has_placeholder,
    is_placeholder,
    shown_url,
    url_has_placeholder,
)


@dataclass(frozen=True, slots=True)
class _OwnedSecret:
    """One secret, or one text with `[redacted]`, with its owner."""

    owner: Path
    address: str | None
    below: Path
    """The path below the owner."""
    value: Any
    shown: str
    field: WalkedField
    needed: bool = False
    """True if the text is a placeholder that must not be used as a value."""

    @property
    def path(self) -> Path:
        return (*self.owner, *self.below)


_Key = tuple[str | None, Path, str]


class _EarlierSecrets:
    """The secrets of the earlier definition, indexed once."""

    def __init__(self, values: Iterable[_OwnedSecret]) -> None:
        self._here: dict[tuple[Path, _Key], Any] = {}
        self._agreed: dict[_Key, list[Any]] = {}
        for held in values:
            key = (held.address, held.below, held.shown)
            self._here[(held.owner, key)] = held.value
            alike = self._agreed.setdefault(key, [held.value])
            if len(alike) == 1 and alike[0] != held.value:
                alike.append(held.value)

    def value_for(self, held: _OwnedSecret) -> Any:
        """Returns the value at the same path, else the only one at this address, else `None`."""
        key = (held.address, held.below, held.shown)
        if (held.owner, key) in self._here:
            return self._here[(held.owner, key)]
        alike = self._agreed.get(key, [])
        return alike[0] if held.address is not None and len(alike) == 1 else None


def with_earlier_values(
    models: Models, definition: dict[str, Any], before: dict[str, Any], *, root: str
) -> dict[str, Any]:
    """Returns a copy of `definition` with the values of `before`, whose secrets are unsealed.

    Raises `InvalidRequest` for a placeholder without an earlier value; `root` is the parameter of
    the definition.
    """
    copy: dict[str, Any] = deepcopy(definition)
    known = list(walk_fields(models, before))
    addresses = _EarlierSecrets(_addresses(known))
    for held in _addresses(list(walk_fields(models, copy))):
        if held.needed:
            _put_earlier(copy, held, addresses, root)
    values = _EarlierSecrets(_secrets(known))
    for held in _placeholders(list(walk_fields(models, copy))):
        _put_earlier(copy, held, values, root)
    return copy


def with_earlier_url(url: str, before: str | None, *, param: str) -> str:
    """Returns `before` if its shown form was sent back, else `url`.

    Raises `InvalidRequest` for a placeholder without an earlier value.
    """
    if before is not None and url == shown_url(before):
        return before
    if url_has_placeholder(url):
        raise InvalidRequest(
            _no_value_message(f"'{param}'", " for this address"), param=param, code="invalid_value"
        )
    return url


def placeholder_faults(walked: Sequence[WalkedField], root: str) -> Iterator[InvalidRequest]:
    """Yields an error for each secret that is `[redacted]`, whether its key is known or not.
    `walked` are the fields of a definition, which may be invalid.
    """
    for held in _addresses(walked):
        if held.needed:
            yield _no_value(held, root)
    for held in _placeholders(walked):
        if held.needed:
            yield _no_value(held, root)


def _put_earlier(document: Any, held: _OwnedSecret, known: _EarlierSecrets, root: str) -> None:
    earlier = known.value_for(held)
    if earlier is not None:
        replace_at(document, pointer(held.path), earlier)
    elif held.needed:
        raise _no_value(held, root)


def _addresses(walked: Iterable[WalkedField]) -> Iterator[_OwnedSecret]:
    """Yields addresses by their shown form; a placeholder is matched by the text that was sent."""
    for field in walked:
        if field.kind is FieldKind.ADDRESS:
            needed = url_has_placeholder(field.value)
            shown = field.value if needed else shown_url(field.value)
            yield _OwnedSecret(field.path, "", (), field.value, shown, field, needed)


def _owned(walked: Sequence[WalkedField]) -> Iterator[tuple[WalkedField, Path, str | None]]:
    """Yields fields other than addresses, each with its owner and the owner's address.

    Free-form JSON is not sent to an address, so it has none and keeps its values at any address of
    the owner.
    """
    addresses: defaultdict[Path, str | None] = defaultdict(lambda: None)
    addresses |= {
        field.path[:-1]: field.value for field in walked if field.kind is FieldKind.ADDRESS
    }
    for field in walked:
        if field.kind not in (FieldKind.ADDRESS, FieldKind.JUDGE):
            owner = field.path[:-1]
            yield field, owner, None if field.kind is FieldKind.FREE_FORM else addresses[owner]


def _secrets(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    for field, owner, address in _owned(walked):
        for path, value, shown in found_in(field):
            yield _OwnedSecret(owner, address, path[len(owner) :], value, shown, field)


def _placeholders(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    """Yields texts with `[redacted]`. An ordinary text, such as a description, may contain it on
    purpose.
    """
    for field, owner, address in _owned(walked):
        announced = {path for path, _, shown in found_in(field) if shown == REDACTED}
        for path, text in _texts(field.value, field.path):
            if has_placeholder(text):
                shown = REDACTED if is_placeholder(text) else text
                needed = path in announced or url_has_placeholder(text)
                yield _OwnedSecret(owner, address, path[len(owner) :], text, shown, field, needed)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    waiting = [(path, value)]
    while waiting:
        at, inner = waiting.pop()
        if isinstance(inner, str):
            yield at, inner
        elif isinstance(inner, dict):
            waiting += [((*at, key), below) for key, below in inner.items()]
        elif isinstance(inner, list | tuple):
            waiting += [((*at, index), below) for index, below in enumerate(inner)]


def _no_value(held: _OwnedSecret, root: str) -> InvalidRequest:
    param = parameter(root, held.field.path)
    in_headers = held.field.path[-1] == "headers" and held.path != held.field.path
    last = str(held.path[-1])[:80]
    named = f"The header '{last}'" if in_headers else f"'{parameter(root, held.path)}'"
    where = " for this address" if held.address else ""
    return InvalidRequest(_no_value_message(named, where), param=param, code="invalid_value")


def _no_value_message(named: str, where: str) -> str:
    return f"{named} reads '{REDACTED}', and no value is known{where}: send its real value."
