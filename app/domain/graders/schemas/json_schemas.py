"""JSON Schemas and regular expressions of customers, compiled for texts that a model wrote.

Promises: nothing is fetched, whatever a `$ref` names; the engine of
patterns is Rust's `regex`, which does not back-track; and compiled sizes, and their product with
the length of the text, are bounded, because both engines keep other threads waiting.
Both engines come with jsonschema-rs. Messages show no values, which may be secrets.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

from app.domain.graders.schemas.pattern_faults import pattern_fault
from app.domain.graders.schemas.schema_costs import SchemaCost, SchemaCostFault, schema_cost

MAX_PATTERN: Final = 4_096
MAX_COMPILED_BYTES: Final = 2**18
_LEAST_COMPILED_BYTES: Final = 2**9
MAX_PATTERN_WORK: Final = 2**31
"""Bytes of the program times bytes of the text. Measured: up to 1e-10 seconds each when the cache
of states is too small, so 0.2 seconds.
"""
MAX_CHECK_WORK: Final = 4_000_000
"""Checks of the schema times values of the text. Measured: 4e-8 seconds each."""
_MAX_EXPLAINED: Final = 10_000
"""Limit of checks times values up to which a fault is described. Measured: 2.5e-5 seconds each,
since the engine describes every branch that does not fit.
"""
_MAX_COPIED: Final = 20_000_000
"""Limit of checks times characters up to which a fault is described; each description copies its
value.
"""
_CACHE_BYTES: Final = 2**21
_SHOWN: Final = 300


class JsonSchemaFault(ValueError):
    """Reports an invalid schema or pattern. The message is for its author."""


class TooMuchWork(Exception):
    """The text is too long for the schema or pattern; the message names the limit."""


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    validator: jsonschema_rs.Draft202012Validator
    size: int
    """Bytes of the compiled program, rounded up to a power of two."""

    def matches(self, text: str) -> bool:
        """Returns whether the text matches. Raises `TooMuchWork`, and `UnicodeEncodeError` for half
        of a surrogate pair.
        """
        _check_pattern_work(self.size, text)
        return self.validator.is_valid(text)


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    validator: jsonschema_rs.Draft202012Validator
    cost: SchemaCost

    def check_work(self, text: str) -> None:
        """Raises `TooMuchWork` for a JSON text that takes too much work."""
        values = _values(text)
        if values * self.cost.checks > MAX_CHECK_WORK:
            raise TooMuchWork(f"{values} JSON values are too many for a schema of this size")
        _check_pattern_work(self.cost.pattern_bytes, text)

    def may_explain(self, text: str) -> bool:
        """Returns whether describing the faults of a JSON text is cheap enough."""
        checks = self.cost.checks
        return _values(text) * checks <= _MAX_EXPLAINED and len(text) * checks <= _MAX_COPIED


def _values(text: str) -> int:
    """Returns an upper bound of the number of values of a JSON text."""
    return 1 + sum(map(text.count, ",[{"))


def _check_pattern_work(size: int, text: str) -> None:
    length = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
    if size * length > MAX_PATTERN_WORK:
        raise TooMuchWork(
            f"the text is too long for a pattern of this size: {length} bytes, and at most "
            f"{MAX_PATTERN_WORK // size} are compared"
        )


def compile_schema(schema: dict[str, Any]) -> CompiledSchema:
    """Compiles a schema. Raises `JsonSchemaFault`."""
    try:
        cost = schema_cost(schema, pattern_size)
    except SchemaCostFault as fault:
        raise JsonSchemaFault(str(fault)) from None
    try:
        validator = jsonschema_rs.Draft202012Validator(
            schema, offline=True, pattern_options=_options(MAX_COMPILED_BYTES), mask="the value"
        )
    except (ValueError, RecursionError) as error:
        text = getattr(error, "message", None) or str(error) or type(error).__name__
        if "Retrieval is disabled" in text:
            raise JsonSchemaFault(
                "a '$ref' points outside the schema; external schemas are not fetched"
            ) from None
        raise JsonSchemaFault(f"it is not a JSON schema ({text[:_SHOWN]})") from None
    return CompiledSchema(validator, cost)


@lru_cache(maxsize=256)
def compile_pattern(
    pattern: str, *, whole: bool = False, ignore_case: bool = False
) -> CompiledPattern:
    """Compiles a pattern. Raises `JsonSchemaFault`."""
    flags = "(?i)" if ignore_case else ""
    forms = [f"{flags}{pattern}"]
    if whole:  # the second one for such as `(?x)a # c`, whose comment would swallow the bracket
        forms = [rf"{flags}\A(?:{pattern})\z", f"{flags}\\A(?:{pattern}\n)\\z"]
    # The pattern alone comes first, before it stands in a group that another bracket could close.
    if _within_limit(pattern) is not None:
        for form in forms:
            if (compiled := _within_limit(form)) is not None:
                return compiled
    raise JsonSchemaFault(
        pattern_fault(
            pattern,
            most_bytes=MAX_COMPILED_BYTES,
            compiles=lambda part: _within_limit(part) is not None,
        )
    )


@lru_cache(maxsize=1024)
def pattern_size(pattern: str) -> int:
    """Returns the bytes of the compiled program; the largest size for an invalid pattern."""
    compiled = _within_limit(pattern)
    # For an invalid one, compiling the schema says what is wrong.
    return MAX_COMPILED_BYTES if compiled is None else compiled.size


def _within_limit(pattern: str) -> CompiledPattern | None:
    """Returns the compiled pattern; `None` for an invalid one, and for one that is too large."""
    size = _LEAST_COMPILED_BYTES
    while size <= MAX_COMPILED_BYTES and len(pattern) <= 2 * MAX_PATTERN:
        try:
            validator = jsonschema_rs.Draft202012Validator(
                {"pattern": pattern}, offline=True, pattern_options=_options(size)
            )
        except ValueError:
            size *= 2
        else:
            return CompiledPattern(validator, size)
    return None


def _options(size: int) -> jsonschema_rs.RegexOptions:
    return jsonschema_rs.RegexOptions(size_limit=size, dfa_size_limit=_CACHE_BYTES)
