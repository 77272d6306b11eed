"""Checks JSON schemas against the meta-schema of JSON Schema 2020-12; fetches nothing."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import jsonschema_rs

from app.domain.documents.pointers import Path

_META_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def schema_fault(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    """Returns the path and the reason of the first fault."""
    for error in _meta_validator().iter_errors(schema):
        return tuple(error.instance_path), error.message
    return None


@cache
def _meta_validator() -> jsonschema_rs.Draft202012Validator:
    # Values may be secrets, so no message shows them.
    return jsonschema_rs.Draft202012Validator({"$ref": _META_SCHEMA}, mask="the value")
