"""Limits the work of reading a definition: that of all its graders and their parts together.

A body is read on the event loop of all tenants, and each of 64 parts has its own limits for one
template, pattern or schema. Owns the sums over the parts. Promises: what is beyond a sum is refused
before it is parsed or compiled. Outside of `as_one_definition` nothing is counted. Must not know
the types of graders.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

MAX_PLACEHOLDERS_TOGETHER: Final = 10_000
"""Measured: 6e-6 seconds each, whenever the templates are parsed."""
MAX_PATTERN_BYTES_TOGETHER: Final = 2**20
"""Bytes of compiled programs from which no other pattern or schema is compiled. Measured: 2e-7
seconds each, so 0.2 seconds, during which the compiler keeps the interpreter lock.
"""
BYTES_OF_A_CHECK: Final = 128
"""Bytes of compiled programs that take as long as one check of a schema."""


class TooMuchToRead(ValueError):
    """The graders of a definition exceed a limit together; the text names it."""


@dataclass(slots=True)
class _Left:
    placeholders: int = MAX_PLACEHOLDERS_TOGETHER
    pattern_bytes: int = MAX_PATTERN_BYTES_TOGETHER


_left: ContextVar[_Left | None] = ContextVar("left", default=None)


@contextmanager
def as_one_definition() -> Iterator[None]:
    """Counts all that is read in this block together, also in blocks within it."""
    if _left.get() is not None:
        yield
        return
    token = _left.set(_Left())
    try:
        yield
    finally:
        _left.reset(token)


def count_placeholders(template: str) -> None:
    """Counts a template before it is parsed. Raises `TooMuchToRead`."""
    left = _left.get()
    if left is None:
        return
    left.placeholders -= template.count("{{")
    if left.placeholders < 0:
        raise TooMuchToRead(
            f"the graders have more than {MAX_PLACEHOLDERS_TOGETHER} placeholders together"
        )


def check_patterns() -> None:
    """Raises `TooMuchToRead` where no other pattern is compiled."""
    left = _left.get()
    if left is not None and left.pattern_bytes <= 0:
        raise TooMuchToRead(
            "the patterns and schemas of the graders are too large together: those before this one "
            f"compile to {MAX_PATTERN_BYTES_TOGETHER} bytes or more"
        )


def count_pattern_bytes(size: int) -> None:
    """Counts the patterns that were compiled after `check_patterns`."""
    left = _left.get()
    if left is not None:
        left.pattern_bytes -= size
