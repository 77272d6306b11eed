"""Reads and writes values of nested JSON by the dotted path of a parameter."""

from typing import Any


def value_at(document: Any, parameter: str) -> Any:
    """Returns the value at a path, `None` where there is none."""
    for name in parameter.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def with_value(document: dict[str, Any], parameter: str, value: Any) -> dict[str, Any]:
    """Returns a copy of the document with a value at a path."""
    name, _, rest = parameter.partition(".")
    if not rest:
        return {**document, name: value}
    inner = document.get(name)
    return {**document, name: with_value(inner if isinstance(inner, dict) else {}, rest, value)}


def leaves(document: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns the values that are no objects, by their paths."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= leaves(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
