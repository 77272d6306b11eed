"""Splits a job's `method` and `integrations` into their redacted and their sealed part, and joins
them again.

Owns the sealed form of both in one row: pointers below `/integrations` belong to the integrations,
all others to the method.
"""

from typing import Any, Final

from app.domain.documents.json_object import Json
from app.domain.documents.walk import walk_fields
from app.domain.jobs.integrations import read_integration
from app.domain.methods.method_documents import stored_method
from app.domain.methods.method_models import METHOD_MODELS
from app.domain.secrets.owner_labels import by_pointer, owners_of_method
from app.domain.secrets.redaction import (
    SecretValues,
    redact_in_place,
    require_sealed,
    restore_secrets,
    split,
)

_INTEGRATIONS: Final = "integrations"
_BELOW: Final = f"/{_INTEGRATIONS}/"


def redact_method(method: Json) -> SecretValues:
    """Redacts a method in place, and returns its secrets by JSON pointer."""
    kind = stored_method(method).kind
    fields = list(walk_fields(METHOD_MODELS[kind], method[kind], (kind,)))
    return redact_in_place(method, fields)


def restored_method(method: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    """Returns the method with its secrets; `opened` may have the first stored format.

    Raises `SecretsMissing` when a value that the job uses is missing.
    """
    sealed = by_pointer(
        {at: value for at, value in opened.items() if not at.startswith(_BELOW)},
        owners_of_method(method),
    )
    kind = stored_method(method).kind
    require_sealed(METHOD_MODELS[kind], method, sealed, (kind,))
    whole: dict[str, Any] = restore_secrets(method, sealed)
    return whole


def split_integrations(integrations: list[Json]) -> tuple[list[Json], SecretValues]:
    """Returns a redacted copy, and its secrets by JSON pointer."""
    copy: Json = {_INTEGRATIONS: integrations}
    sealed: SecretValues = {}
    for position, one in enumerate(integrations):
        path = (_INTEGRATIONS, position)
        copy, found = split(type(read_integration(one)), copy, path)
        sealed |= found
    shown: list[Json] = copy[_INTEGRATIONS]
    return shown, sealed


def restored_integrations(integrations: list[Json], opened: SecretValues) -> list[Json]:
    """Returns the integrations with their secrets. Raises `SecretsMissing` when a value that a
    tracker uses is missing.
    """
    document = {_INTEGRATIONS: integrations}
    sealed = {at: value for at, value in opened.items() if at.startswith(_BELOW)}
    for position, one in enumerate(integrations):
        path = (_INTEGRATIONS, position)
        require_sealed(type(read_integration(one)), document, sealed, path)
    whole: list[Json] = restore_secrets(document, sealed)[_INTEGRATIONS]
    return whole
