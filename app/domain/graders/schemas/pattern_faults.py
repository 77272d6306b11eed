"""Finds out why a regular expression cannot be compiled, and where: its engine does not say.

Positions count characters from 1. Must not know graders.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Final

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
