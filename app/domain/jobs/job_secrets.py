"""Splits a job's `method` into its redacted and its sealed part, and joins them again."""

from typing import Any

from app.domain.methods.kinds import METHOD_MODELS
from app.domain.methods.method_documents import stored_method
from app.domain.secrets.owner_labels import by_pointer, owners_of_method
from app.domain.secrets.redaction import SecretValues, require_sealed, restore_secrets, split


def split_method(method: dict[str, Any]) -> tuple[dict[str, Any], SecretValues]:
    """Returns a redacted copy, and its secrets by JSON pointer."""
    kind = stored_method(method).kind
    copy, sealed = split(METHOD_MODELS[kind], method, (kind,))
    return copy, sealed


def restored_method(method: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    """Returns the method with its secrets; `opened` may have the first stored format.

    Raises `SecretsMissing` when a value that the job uses is missing.
    """
    sealed = by_pointer(opened, owners_of_method(method))
    kind = stored_method(method).kind
    require_sealed(METHOD_MODELS[kind], method, sealed, (kind,))
    whole: dict[str, Any] = restore_secrets(method, sealed)
    return whole
