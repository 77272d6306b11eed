"""Generates arguments for a trial call that a tool's own JSON schema accepts. Pure."""

from typing import Any

_BY_TYPE: dict[str, Any] = {
    "string": "test",
    "integer": 1,
    "number": 1.0,
    "boolean": True,
    "array": [],
    "null": None,
}
_MAX_DEPTH = 8


def sample_arguments(schema: Any) -> dict[str, Any]:
    """Returns the required properties of an object schema, each with a plain value of its type."""
    made = _value(schema, depth=0) if isinstance(schema, dict) else {}
    return made if isinstance(made, dict) else {}


def _value(schema: Any, *, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "test"
    stated = _stated(schema)
    if stated:
        return stated[0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    if kind == "object" or isinstance(schema.get("properties"), dict):
        return _object(schema, depth)
    if kind == "array" and isinstance(schema.get("minItems"), int) and schema["minItems"] > 0:
        return [_value(schema.get("items"), depth=depth + 1)]
    return _BY_TYPE.get(kind, "test") if isinstance(kind, str) else "test"


def _stated(schema: dict[str, Any]) -> list[Any]:
    """Returns the example values in the schema itself, the best one first; empty without any."""
    named = [schema[key] for key in ("const", "default") if key in schema]
    for key in ("examples", "enum"):
        values = schema.get(key)
        named += values if isinstance(values, list) else []
    minimum = schema.get("minimum")
    return [*named, minimum] if isinstance(minimum, int | float) else named


def _object(schema: dict[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    return {name: _value(properties.get(name), depth=depth + 1) for name in _names(required)}


def _names(required: Any) -> dict[str, None]:
    """Returns each name once: the same name a hundred times on eight levels would be generated 100⁸
    times.
    """
    named = required if isinstance(required, list) else ()
    return dict.fromkeys(name for name in named if isinstance(name, str))
