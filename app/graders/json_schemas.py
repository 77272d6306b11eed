"""Finds out why a regular expression cannot be compiled, and where: its engine does not say.

Positions count characters from 1.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

from app.graders.schema_costs import SchemaCost, SchemaCostFault, schema_cost

_SYNTAX: Final = "in the syntax of Rust's `regex`"
_LOOK_AROUND: Final = ("(?=", "(?!", "(?<=", "(?<!")
_REFUSED: Final = "is not available, because an expression is matched in bounded time"
_COUNT: Final = re.compile(r"\{([0-9]{1,9})(?:,([0-9]{0,9}))?\}", re.ASCII)
_OF_RUST: Final = re.compile(r"\\[pP](?:\{[^{}]*\}|[A-Za-z])|\\x\{[0-9A-Fa-f]+\}|\\[zuU]", re.ASCII)
"""Escape sequences of Rust that Python's reader does not know."""
_OTHER_ESCAPES: Final = {
    "\\Z": "the end of the text is `\\z` there",
    "\\G": "there is no `\\G`",
    "\\K": "there is no `\\K`",
    "\\R": "a line break is `\\r?\\n` there",
}
_NUMBERED: Final = frozenset(f"\\{digit}" for digit in "123456789")
_GROUP_OF_RUST: Final = re.compile(r"\(\?(?:<[A-Za-z_][\w.\[\]]*>|[imsxUuR-]+(?=\)))")
"""The beginning of a named group, and flags within the expression, as Rust writes them."""
_OF_PYTHON: Final = ("(?#", "(?(", "(?a", "(?L")
_NO_FAULT: Final = "multiple repeat"
"""The fault of Python's reader that Rust's syntax does not have."""
_MOST_TRIED: Final = 8
_SHOWN: Final = 20


def pattern_fault(pattern: str, *, most_bytes: int, compiles: Callable[[str], bool]) -> str:
    """Returns the fault of an expression that does not compile. `compiles` tries another one, and
    `most_bytes` limits a compiled one.
    """
    return (
        _unavailable(pattern)
        or _repeats_too_often(pattern, most_bytes, compiles)
        or _misspelt(pattern)
        or _unknown_class(pattern, compiles)
        or f"{_too_large(most_bytes)}; make it shorter"
    )


def _unavailable(pattern: str) -> str | None:
    """Returns the fault of a construct that only engines with back-tracking have."""
    for at, part in _constructs(pattern):
        if part.startswith(_LOOK_AROUND):
            return f"look-around ('{part}' at character {at + 1}) {_REFUSED}"
        if part.startswith("(?>"):
            return f"an atomic group ('{part}' at character {at + 1}) {_REFUSED}"
        if part.startswith(("(?P=", "\\k")) or part in _NUMBERED:
            return f"a back-reference ('{part}' at character {at + 1}) {_REFUSED}"
    return None


def _too_large(most_bytes: int) -> str:
    return f"it is too large: compiled, it may have {most_bytes} bytes"


def _repeats_too_often(
    pattern: str, most_bytes: int, compiles: Callable[[str], bool]
) -> str | None:
    counts = list(_COUNT.finditer(pattern))
    if not counts or not compiles(_COUNT.sub("{1}", pattern)):
        return None
    most = max(counts, key=lambda found: max(int(each or 0) for each in found.groups()))
    at = most.start() + 1
    return f"{_too_large(most_bytes)}, and '{most[0]}' at character {at} repeats most; repeat less"


def _unknown_class(pattern: str, compiles: Callable[[str], bool]) -> str | None:
    for at, escape in _few_escapes(pattern):
        if not compiles(escape):
            return f"it cannot be read {_SYNTAX}: '{escape}' at character {at + 1} is unknown"
    return None


def _few_escapes(pattern: str) -> Iterator[tuple[int, str]]:
    """Yields the first of the different escape sequences of Rust, with the index of each."""
    first = {found[0]: found.start() for found in reversed(list(_OF_RUST.finditer(pattern)))}
    for escape in list(first)[-_MOST_TRIED:]:
        yield first[escape], escape


def _misspelt(pattern: str) -> str | None:
    for at, part in _constructs(pattern):
        if part.startswith(_OF_PYTHON):
            return f"it cannot be read {_SYNTAX}: '{part[:3]}' at character {at + 1} is unknown"
        if part in _OTHER_ESCAPES:
            return f"'{part}' at character {at + 1} is unknown {_SYNTAX}: {_OTHER_ESCAPES[part]}"
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(_as_python(pattern))
    except re.error as error:
        if error.pos is not None and error.msg != _NO_FAULT:
            at, part = error.pos + 1, pattern[error.pos : error.pos + _SHOWN]
            return f"it cannot be read {_SYNTAX}: {error.msg} at character {at} ('{part}')"
    except (OverflowError, RecursionError):
        pass
    for at, part in _constructs(pattern):
        if part == "{" and _COUNT.match(pattern, at) is None:
            return (
                f"it cannot be read {_SYNTAX}: '{{' at character {at + 1} begins no repetition; "
                "as a character it is '\\{'"
            )
    return None


def _as_python(pattern: str) -> str:
    """Returns an expression of the same length, in which Python's reader finds the same faults."""
    text = _OF_RUST.sub(lambda found: "x" * len(found[0]), pattern)
    return _GROUP_OF_RUST.sub(lambda found: "(?:" + "x" * (len(found[0]) - 3), text)


def _constructs(pattern: str) -> Iterator[tuple[int, str]]:
    """Yields the groups, braces and escape sequences outside of classes such as `[a-z]`, each with
    its index.
    """
    at, depth = 0, 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            long = _OF_RUST.match(pattern, at)
            escape = pattern[at : at + 2] if long is None else long[0]
            if depth == 0:
                yield at, escape
            at += len(escape)
            continue
        if character == "[":
            depth += 1
            if pattern[at + 1 : at + 2] == "^":
                at += 1
            if pattern[at + 1 : at + 2] == "]":  # as a first character it is one of the class
                at += 1
        elif character == "]":
            depth = max(0, depth - 1)
        elif depth == 0 and pattern.startswith("(?", at):
            opened = next((each for each in _LOOK_AROUND if pattern.startswith(each, at)), None)
            yield at, opened or pattern[at : at + 4]
        elif depth == 0 and character == "{":
            yield at, character
        at += 1


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
_SHOWN_SCHEMAS: Final = 300


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
        raise JsonSchemaFault(f"it is not a JSON schema ({text[:_SHOWN_SCHEMAS]})") from None
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
