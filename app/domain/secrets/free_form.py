"""Secrets in JSON of no known schema: found by the names of keys, at any depth.

Owns the walk over free-form objects (`response_format`, a tool's `parameters`, unknown keys) and
the rule for JSON Schemas. The standard library alone, so that a migration may import it.

- Every text and number at or below a key that `is_credential_name` accepts is a secret.
- An URL is a secret as far as its query, fragment and user information go.
- Keys below `properties` and its like in a JSON Schema name schemas, not values: a property called
  `token` keeps its `type` and `description`; its `default`, `const`, `enum` and `examples` are
  secrets.
"""

from collections.abc import Iterator
from typing import Any, Final

from app.domain.secrets.names import is_credential_name
from app.domain.secrets.urls import REDACTED, is_url, shown_url

Path = tuple[str | int, ...]
Found = tuple[Path, Any, str]
"""Where a secret is, its value, and the text that is shown instead."""

_SCHEMA_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_SCHEMA_KEYS: Final = frozenset(
    {
        "type", "title", "description", "format", "pattern", "required", "items", "properties",
        "additionalProperties", "anyOf", "oneOf", "allOf", "not", "$ref", "$id", "$schema",
        "$defs", "definitions", "nullable", "deprecated", "readOnly", "writeOnly", "minLength",
        "maxLength", "minimum", "maximum", "minItems", "maxItems", "uniqueItems", "prefixItems",
        "patternProperties", "dependentSchemas", "strict", "multipleOf", "minProperties",
        "maxProperties", "exclusiveMinimum", "exclusiveMaximum", "contentEncoding",
        "contentMediaType",
    }
)  # fmt: skip
_MAX_DEPTH: Final = 200
"""Deeper values are hidden whole."""


def secrets_in(value: Any, path: Path, *, credential: bool = False) -> Iterator[Found]:
    """Secrets at or below `value`; `credential` says that a name above announces one."""
    if isinstance(value, str):
        shown = REDACTED if credential else shown_url(value) if is_url(value) else value
        if value and (credential or shown != value):
            yield path, value, shown
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        if credential:
            yield path, value, REDACTED
    elif len(path) > _MAX_DEPTH:
        yield path, value, REDACTED
    elif isinstance(value, dict):
        yield from _in_object(value, path, credential=credential)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from secrets_in(item, (*path, index), credential=credential)


def _in_object(value: dict[str, Any], path: Path, *, credential: bool) -> Iterator[Found]:
    for key, below in value.items():
        place = (*path, key)
        if key in _SCHEMA_MAPS and isinstance(below, dict) and not credential:
            for name, schema in below.items():
                yield from _in_schema(name, schema, (*place, name))
        else:
            yield from secrets_in(below, place, credential=credential or is_credential_name(key))


def _in_schema(name: str, schema: Any, path: Path) -> Iterator[Found]:
    """One property: its own keywords are kept where its name announces a credential."""
    announced = is_credential_name(name)
    if not announced or not isinstance(schema, dict):
        yield from secrets_in(schema, path, credential=announced)
        return
    kept = {key: below for key, below in schema.items() if key in _SCHEMA_KEYS}
    yield from _in_object(kept, path, credential=False)
    for key in schema.keys() - kept.keys():
        yield from secrets_in(schema[key], (*path, key), credential=True)
