"""The cells of a table of fields: their types and defaults in words. Pure."""

from collections.abc import Mapping
from typing import Any, Final

_ANYTHING: Final = "any JSON"
_BOUNDS: Final = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
}
Schema = Mapping[str, Any]
"""JSON schema of a field or of a model."""


def shown_default(schema: Schema) -> str:
    """Returns the default of a field that is not required."""
    value = schema.get("default")
    match value:
        case None:
            return "its defaults" if "$ref" in schema else "none"
        case bool():
            return f"`{str(value).lower()}`"
        case [str(), *_]:
            return ", ".join(f"`{cell(each)}`" for each in value)
        case dict() | list():
            return "its defaults" if value else "empty"
        case "":
            return "empty"
        case _:
            return f"`{cell(str(value))}`"


def shown_type(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """Returns the type of a field in words, with links to the tables of other models."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        shown = name.lstrip("_")
        return f"[{shown}](#{shown.lower()})" if name in schemas else _ANYTHING
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(shown_type(each, schemas) for each in schema[union]))
    kind = schema.get("type", _ANYTHING)
    if kind == "array" and "items" in schema:
        return f"list of {shown_type(schema['items'], schemas)}"
    bounds = [text.format(schema[key]) for key, text in _BOUNDS.items() if key in schema]
    return " ".join([kind, *bounds])


def cell(text: str) -> str:
    """Returns a text as one line without marks of a table."""
    return " ".join(text.split()).replace("|", "\\|")
