"""Checks JSON schemas against the meta-schema of JSON Schema 2020-12; fetches nothing."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from app.kit.errors import InvalidRequest
from app.kit.fields import Path, parameter

if TYPE_CHECKING:
    import jsonschema_rs

_META_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


def schema_fault(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    for error in _meta_validator().iter_errors(schema):
        return tuple(error.instance_path), error.message
    return None


def function_schema_fault(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    found = schema_fault(schema)
    if found is None and schema.get("type", "object") != "object":
        return ("type",), "a function's schema must have the type 'object'"
    return found


def refuse_function_schema(schema: Mapping[str, Any], param: str, name: str) -> None:
    if found := function_schema_fault(schema):
        path, reason = found
        raise InvalidRequest(
            f"Invalid schema for function '{name}': {reason}.",
            param=parameter(param, path),
            code="invalid_function_parameters",
        )


@cache
def _meta_validator() -> "jsonschema_rs.Draft202012Validator":
    import jsonschema_rs  # noqa: PLC0415 - the environment of vLLM, which reads turns, lacks it

    # Values may be secrets, so no message shows them.
    return jsonschema_rs.Draft202012Validator({"$ref": _META_SCHEMA}, mask="the value")
