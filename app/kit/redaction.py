"""The secrets of a customer's definition: sealed by JSON pointer, shown as `[redacted]`, and put
back for `[redacted]` that is sent again.

The type of a field decides what is a secret. Free-form JSON, such as metadata, schemas and rows, is
stored as sent and not searched.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from app.kit.errors import InvalidRequest, SecretsLost
from app.kit.fields import Path, parameter, pointer, replace_at
from app.kit.secret_echoes import (
    REDACTED,
    has_placeholder,
    is_placeholder,
    shown_url,
    url_has_placeholder,
)
from app.kit.walk import FieldKind, Models, WalkedField, walk_fields, walk_with_nulls

MAX_SEALED: Final = 1000
"""Largest number of sealed values of one definition: seven for each of the tools that a job may
have. Each costs time whenever the definition is read.
"""
SecretValues = dict[str, Any]
"""Secrets by JSON pointer."""


class SecretsMissing(SecretsLost):
    """A document shows a redacted value that its sealed part does not contain."""


def bound_faults(walked: Iterable[tuple[str, WalkedField]]) -> Iterator[InvalidRequest]:
    """Yields an error for too many sealed values. `walked`: the fields of the definitions that are
    stored together, each with the parameter of its definition.
    """
    sealed = 0
    for root, field in walked:
        sealed += sum(1 for _ in secrets_in(field))
        if sealed > MAX_SEALED:
            where = f"'{root}'" if root else "The definition"
            yield InvalidRequest(
                f"{where} contains more than {MAX_SEALED} values that are sealed: headers and "
                "addresses with a query. Send fewer.",
                param=root or None,
                code="invalid_value",
            )
            return


def secrets_in(field: WalkedField) -> Iterator[tuple[Path, str, str]]:
    """Yields the secrets of one field: path, value, and the text that replaces it."""
    if field.kind is FieldKind.SECRET:
        yield from ((path, text, REDACTED) for path, text in _texts(field) if text)
    elif field.kind is FieldKind.ADDRESS and (shown := shown_url(field.value)) != field.value:
        yield field.path, field.value, shown


def _texts(field: WalkedField) -> Iterator[tuple[Path, str]]:
    """Yields the texts of a field, which may be any JSON."""
    waiting: list[tuple[Path, Any]] = [(field.path, field.value)]
    while waiting:
        at, inner = waiting.pop()
        if isinstance(inner, str):
            yield at, inner
        elif isinstance(inner, dict):
            waiting += [((*at, key), below) for key, below in inner.items()]
        elif isinstance(inner, list | tuple):
            waiting += [((*at, index), below) for index, below in enumerate(inner)]


def redact_in_place(models: Models, document: Any, path: Path = ()) -> SecretValues:
    """Drops the unknown keys of a JSON document, redacts its secrets, and returns them. `models`
    are the models of the value at `path`.
    """
    sealed: SecretValues = {}
    for field in list(walk_with_nulls(models, _at(document, path), path)):
        if field.kind is FieldKind.UNKNOWN:
            del _at(document, field.path[:-1])[field.path[-1]]
        for at, value, shown in secrets_in(field):
            _at(document, at[:-1])[at[-1]] = shown
            sealed[pointer(at)] = value
    return sealed


def _at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def split(models: Models, document: Any, path: Path = ()) -> tuple[Any, SecretValues]:
    """Does the same with a copy, and returns that too."""
    copy = deepcopy(document)
    return copy, redact_in_place(models, copy, path)


def redacted_json(value: BaseModel) -> dict[str, Any]:
    """Returns an instance as JSON, redacted and without its unknown keys."""
    document: dict[str, Any] = value.model_dump(mode="json")
    redact_in_place(type(value), document)
    return document


def restore_secrets(document: Any, sealed: Mapping[str, Any]) -> Any:
    """Undoes `split`. Raises `SecretsMissing` when the document has no such field."""
    copy = deepcopy(document)
    for at, value in sealed.items():
        try:
            replace_at(copy, at, value)
        except KeyError as error:
            raise SecretsMissing(at) from error
    return copy


def require_sealed(models: Models, document: Any, sealed: SecretValues, path: Path = ()) -> None:
    """Raises `SecretsMissing` when a value is redacted and not sealed."""
    for field in walk_fields(models, _at(document, path), path):
        shown = field.kind is FieldKind.ADDRESS and url_has_placeholder(field.value)
        lost = [field.path] if shown else [at for at, value, to in secrets_in(field) if value == to]
        for at in lost:
            if pointer(at) not in sealed:
                raise SecretsMissing(pointer(at))


@dataclass(frozen=True, slots=True)
class _OwnedSecret:
    """An address, or a secret that is sent to the address of the same object."""

    field: WalkedField
    path: Path
    value: str
    shown: str
    address: str | None
    """`None`: it is sent to no address, so its value stays in its place."""

    @property
    def key(self) -> tuple[str | None, Path, str]:
        """What is equal where the same secret is sent to the same address."""
        return self.address, self.path[len(self.field.path) - 1 :], self.shown


class _EarlierSecrets:
    """The secrets of the earlier definition, indexed once."""

    def __init__(self, values: Iterable[_OwnedSecret]) -> None:
        self._here: dict[tuple[Path, Any], str] = {}
        self._alike = defaultdict[Any, set[str]](set)
        for held in values:
            self._here[held.path, held.key] = held.value
            self._alike[held.key].add(held.value)

    def value_for(self, held: _OwnedSecret) -> str | None:
        """Returns the value at the same path, else the only one at this address, else `None`."""
        if (here := self._here.get((held.path, held.key))) is not None:
            return here
        alike = self._alike.get(held.key, set())
        return min(alike) if held.address is not None and len(alike) == 1 else None


def with_earlier_values(
    models: Models, definition: dict[str, Any], before: dict[str, Any], *, root: str
) -> dict[str, Any]:
    """Returns a copy of `definition` with the values of `before`, whose secrets are unsealed.

    Raises `InvalidRequest` for a placeholder without an earlier value; `root` is the parameter of
    the definition.
    """
    copy: dict[str, Any] = deepcopy(definition)
    known = list(walk_fields(models, before))
    for kind in (_addresses, _secrets):  # addresses first: a secret belongs to its whole address
        earlier = _EarlierSecrets(kind(known))
        for held in kind(list(walk_fields(models, copy))):
            if _is_missing(held):
                value = earlier.value_for(held)
                if value is None:
                    raise _no_value(held, root)
                replace_at(copy, pointer(held.path), value)
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
    """Yields an error for each secret that is `[redacted]`. `walked` are the fields of a
    definition, which may be invalid.
    """
    for held in (*_addresses(walked), *_secrets(walked)):
        if _is_missing(held):
            yield _no_value(held, root)


def _addresses(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    """Yields addresses by their shown form; a placeholder is matched by the text that was sent."""
    for field in walked:
        if field.kind is FieldKind.ADDRESS:
            value = field.value
            shown = value if url_has_placeholder(value) else shown_url(value)
            yield _OwnedSecret(field, field.path, value, shown, "")


def _secrets(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    addresses = {
        field.path[:-1]: field.value for field in walked if field.kind is FieldKind.ADDRESS
    }
    for field in walked:
        if field.kind is FieldKind.SECRET:
            for path, text in _texts(field):
                shown = text if has_placeholder(text) and not is_placeholder(text) else REDACTED
                yield _OwnedSecret(field, path, text, shown, addresses.get(field.path[:-1]))


def _is_missing(held: _OwnedSecret) -> bool:
    """Returns whether the value is a placeholder, which must not be sent anywhere."""
    if held.field.kind is FieldKind.ADDRESS:
        return url_has_placeholder(held.value)
    return has_placeholder(held.value)


def _no_value(held: _OwnedSecret, root: str) -> InvalidRequest:
    param = parameter(root, held.field.path)
    in_headers = held.field.path[-1] == "headers" and held.path != held.field.path
    last = str(held.path[-1])[:80]
    named = f"The header '{last}'" if in_headers else f"'{parameter(root, held.path)}'"
    where = " for this address" if held.address else ""
    return InvalidRequest(_no_value_message(named, where), param=param, code="invalid_value")


def _no_value_message(named: str, where: str) -> str:
    return f"{named} reads '{REDACTED}', and no value is known{where}: send its real value."
