"""Splits a customer's document into a redacted copy and its secrets, and joins them again.

Owns the sealed form: `{JSON pointer: value}`. In the copy, `[redacted]` replaces each secret and
each query value of an URL. Must not know how the secrets are encrypted or where they are stored.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from app.domain.documents.pointers import Path, pointer, replace_at
from app.domain.documents.walk import FieldKind, Models, WalkedField, walk_fields
from app.domain.errors import SecretsLost
from app.domain.secrets.free_form import Found, secrets_in
from app.domain.secrets.names import SecretNameClass, secret_name_class
from app.domain.secrets.urls import REDACTED, shown_url

SecretValues = dict[str, Any]
"""Secrets by JSON pointer."""


class SecretsMissing(SecretsLost):
    """A document shows a redacted value that its sealed part does not contain."""


def found_in(field: WalkedField) -> Iterator[Found]:
    """Yields the secrets of one field."""
    match field.kind:
        case FieldKind.SECRET:
            yield from secrets_in(field.value, field.path, credential=SecretNameClass.ALL)
        case FieldKind.ADDRESS:
            if (shown := shown_url(field.value)) != field.value:
                yield field.path, field.value, shown
        case FieldKind.FREE_FORM:
            yield from secrets_in(field.value, field.path)
        case FieldKind.UNKNOWN:
            name = str(field.path[-1])
            yield from secrets_in(field.value, field.path, credential=secret_name_class(name))
        case FieldKind.JUDGE | FieldKind.EMBEDDING | FieldKind.TEMPLATE:
            return


def redact_in_place(document: Any, walked: Iterable[WalkedField]) -> SecretValues:
    """Redacts a JSON document that was walked, and returns its secrets."""
    found = [secret for field in walked for secret in found_in(field)]
    sealed = {pointer(path): value for path, value, _ in found}
    for path, _, shown in found:
        _replace(document, path, shown)
    return sealed


def split(models: Models, document: Any, path: Path = ()) -> tuple[Any, SecretValues]:
    """Returns a redacted copy of a document and its secrets. `models` are the models of the value
    at `path`.
    """
    copy = deepcopy(document)
    inner = copy
    for part in path:
        inner = inner[part]
    return copy, redact_in_place(copy, list(walk_fields(models, inner, path)))


def redacted_json(value: BaseModel) -> dict[str, Any]:
    """Returns an instance as JSON, redacted."""
    document: dict[str, Any] = value.model_dump(mode="json")
    redact_in_place(document, list(walk_fields(type(value), document)))
    return document


def shown_free_form(document: Any) -> Any:
    """Returns a redacted copy of free-form JSON, whose secrets are dropped because nothing uses
    them.
    """
    copy = deepcopy(document)
    for path, _, shown in list(secrets_in(document, ())):
        _replace(copy, path, shown)
    return copy


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
    """Raises `SecretsMissing` when a value that will be used is redacted and not sealed.

    Values under unknown keys are never used and may be missing.
    """
    inner = document
    for part in path:
        inner = inner[part]
    for field in walk_fields(models, inner, path):
        if field.kind in (FieldKind.SECRET, FieldKind.ADDRESS):
            for at, value in _shown_secrets(field):
                if REDACTED in value and pointer(at) not in sealed:
                    raise SecretsMissing(pointer(at))


def _shown_secrets(field: WalkedField) -> Iterator[tuple[Path, str]]:
    if field.kind is FieldKind.ADDRESS:
        yield field.path, field.value if field.value == shown_url(field.value) else ""
        return
    for at, value, _ in found_in(field):
        yield at, value if value == REDACTED else ""


def _replace(document: Any, path: Path, value: Any) -> None:
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = value
