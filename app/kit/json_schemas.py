"""Checks JSON schemas against the meta-schema of JSON Schema 2020-12; fetches nothing."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from app.kit.fields import Path

if TYPE_CHECKING:
    import jsonschema_rs

_META_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Final = (
    "it must be 'array', 'boolean', 'integer', 'null', 'number', 'object' or 'string', or a list "
    "of them"
)
_DATA: Final = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose values are no schemas."""
_NAMES: Final = ("$id", "$anchor", "$dynamicAnchor")


def without_nulls(schema: Any) -> Any:
    """Returns a schema, or what has one, without the nulls that a table or a serializer filled in.
    Values such as `"default": null` mean something and stay.
    """
    match schema:
        case dict():
            kept = ((k, v) for k, v in schema.items() if v is not None or k in {"default", "const"})
            return {key: without_nulls(value) for key, value in kept}
        case list():
            return [without_nulls(value) for value in schema]
        case _:
            return schema


def schema_fault(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    for error in _meta_validator().iter_errors(schema):
        path = tuple(error.instance_path)
        if "anyOf" in error.schema_path and path[-1:] == ("type",):  # all that has alternatives
            return path, _TYPES
        value: Any = schema
        for part in path:
            value = value[part]
        if value is None:
            return path, "it is null: leave the key out"
        return path, error.message
    return None


def function_schema_fault(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    found = schema_fault(schema)
    if found is None and schema.get("type", "object") != "object":
        return ("type",), "a function's schema must have the type 'object'"
    return found or _reference_fault(schema)


def _reference_fault(schema: Mapping[str, Any]) -> tuple[Path, str] | None:
    """Finds a `$ref` without a schema: no reader of a function's schema fetches another one."""
    found = list(_texts(schema, ("$ref", *_NAMES), ()))
    named = {value for (*_, key), value in found if key == "$id"}
    named |= {f"#{value}" for (*_, key), value in found if key in _NAMES[1:]}
    for path, value in found:
        if path[-1] == "$ref" and value not in named and not _leads_within(schema, value):
            return path, "it leads to no schema within this one, and no other is fetched"
    return None


def _texts(value: Any, keys: tuple[str, ...], path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _texts(inner, keys, (*path, position))
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key in keys and isinstance(inner, str):
            yield (*path, key), inner
        elif key not in _DATA:
            yield from _texts(inner, keys, (*path, key))


def _leads_within(schema: Mapping[str, Any], reference: str) -> bool:
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    at: Any = schema
    for escaped in unquote(reference[2:]).split("/"):
        part = escaped.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list) and part.isdecimal() and int(part) < len(at):
            at = at[int(part)]
        elif isinstance(at, dict) and part in at:
            at = at[part]
        else:
            return False
    return isinstance(at, dict | bool)


@cache
def _meta_validator() -> "jsonschema_rs.Draft202012Validator":
    import jsonschema_rs  # noqa: PLC0415 - the environment of vLLM, which reads turns, lacks it

    # Values may be secrets, so no message shows them.
    return jsonschema_rs.Draft202012Validator({"$ref": _META_SCHEMA}, mask="the value")
