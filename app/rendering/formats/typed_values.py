"""Types of argument values that a format writes as plain text: they come from the tool's schema.

Follows vLLM 0.32's XML parsers: a string parameter keeps its text unchanged, and a value that does
not fit its declared type stays text, so that the check of the arguments names the fault.
"""

import json
from typing import Any, Final

from app.domain.texts.strict_json import strict_loads

_NULLS: Final = ("null", "none")


def typed_value(text: str, schema: Any, *, guess: bool = False) -> Any:
    """Returns the value of a parameter's text. With `guess`, a parameter without a schema is parsed
    as JSON if it is valid JSON; otherwise it is text.
    """
    types = _types(schema)
    if not types:
        return _json_or_text(text) if guess else text
    if "null" in types and text.strip().lower() in _NULLS:
        return None
    if "string" in types:
        return text
    if text.strip().lower() in _NULLS:
        return None
    if "boolean" in types and text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    return _json_or_text(text)


def _types(schema: Any) -> list[str]:
    if not isinstance(schema, dict):
        return []
    declared = schema.get("type")
    branches = [b for key in ("anyOf", "oneOf") for b in schema.get(key) or ()]
    types = [declared] if isinstance(declared, str) else list(declared or ())
    types += [kind for branch in branches for kind in _types(branch)]
    if not types and "enum" in schema:
        types = [_kind(value) for value in schema["enum"]]
    return [kind for kind in types if isinstance(kind, str)]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return "string" if isinstance(value, str) else "number"


def _json_or_text(text: str) -> Any:
    try:
        value = strict_loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value
