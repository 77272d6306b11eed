"""JSON Schemas and regular expressions of customers, compiled for texts that a model wrote.

Promises: nothing is fetched, whatever a `$ref` names; a pattern is matched in time proportional to
the text, because the engine is Rust's `regex`, which does not back-track; and compiled sizes are
bounded.
Both engines come with jsonschema-rs. Messages show no values, which may be secrets.
"""

from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

MAX_COMPILED_BYTES: Final = 2**21
_OPTIONS: Final = jsonschema_rs.RegexOptions(
    size_limit=MAX_COMPILED_BYTES, dfa_size_limit=MAX_COMPILED_BYTES
)
_SHOWN: Final = 300


class JsonSchemaFault(ValueError):
    """Not a schema or pattern. The text is for its author."""


def compile_schema(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """Raises `JsonSchemaFault`."""
    try:
        return jsonschema_rs.Draft202012Validator(
            schema, offline=True, pattern_options=_OPTIONS, mask="the value"
        )
    except (ValueError, RecursionError) as error:
        text = getattr(error, "message", None) or str(error) or type(error).__name__
        if "Retrieval is disabled" in text:
            raise JsonSchemaFault("a '$ref' leads out of it, and nothing is fetched") from None
        raise JsonSchemaFault(f"it is no JSON schema ({text[:_SHOWN]})") from None


@lru_cache(maxsize=256)
def compile_pattern(
    pattern: str, *, whole: bool = False, ignore_case: bool = False
) -> jsonschema_rs.Draft202012Validator:
    """Returns a validator of texts that match. Raises `JsonSchemaFault`."""
    _compiled(pattern)  # before it stands in a group, which another bracket could close
    flags = "(?i)" if ignore_case else ""
    return _compiled(rf"{flags}\A(?:{pattern})\z" if whole else f"{flags}{pattern}")


def _compiled(pattern: str) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            {"pattern": pattern}, offline=True, pattern_options=_OPTIONS
        )
    except ValueError:
        raise JsonSchemaFault(
            "it is no regular expression of Rust's `regex`, which has no look-around and no "
            "back-references, or it is too large"
        ) from None
