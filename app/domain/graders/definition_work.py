"""Limits the work of reading a definition: that of all its graders and their parts together.

A body is read on the event loop of all tenants, and each of 64 parts has its own limits for one
template, pattern or schema. Owns the sums over the parts, which the parsers hand on as the context
of a validation. Promises: a part beyond a sum is refused before it is parsed or compiled. Must not
know the types of graders.
"""

from dataclasses import dataclass
from typing import Final

from pydantic import ValidationInfo

MAX_PLACEHOLDERS_TOGETHER: Final = 10_000
"""Largest number in all templates. Measured: 6e-6 seconds each when they are parsed, 4e-5 with 64
steps.
"""
MAX_PATTERN_BYTES_TOGETHER: Final = 2**20
"""Bytes of compiled programs from which no other pattern or schema is compiled. Measured: 2e-7
seconds each, so 0.2 seconds, during which the compiler keeps the interpreter lock.
"""
BYTES_OF_A_CHECK: Final = 128
"""Bytes of compiled programs that take as long as one check of a schema."""


class TooMuchToRead(ValueError):
    """The graders of a definition exceed a limit together; the text names it."""


@dataclass(slots=True)
class DefinitionWork:
    """The work that is left for the parts of one definition that are not read yet."""

    _placeholders: int = MAX_PLACEHOLDERS_TOGETHER
    _pattern_bytes: int = MAX_PATTERN_BYTES_TOGETHER
    _has_faulty_pattern: bool = False

    @classmethod
    def of(cls, info: ValidationInfo) -> "DefinitionWork":
        """Returns the work of the validation, a new one for a part that is read by itself."""
        return info.context if isinstance(info.context, cls) else cls()

    def count_template(self, template: str) -> None:
        """Counts a template before it is parsed. Raises `TooMuchToRead`."""
        self._placeholders -= template.count("{{")
        if self._placeholders < 0:
            raise TooMuchToRead(
                f"there are more than {MAX_PLACEHOLDERS_TOGETHER} placeholders together"
            )

    def check_patterns(self) -> None:
        """Raises `TooMuchToRead` where no other pattern is compiled."""
        if self._pattern_bytes <= 0 and self._has_faulty_pattern:
            raise TooMuchToRead(
                "it was not read, because other patterns and schemas have errors: correct those "
                "first"
            )
        if self._pattern_bytes <= 0:
            raise TooMuchToRead(
                "the patterns and schemas of the graders are too large together: those before "
                f"this one compile to {MAX_PATTERN_BYTES_TOGETHER} bytes or more"
            )

    def count_pattern_bytes(self, size: int) -> None:
        """Counts patterns that were compiled after `check_patterns`."""
        self._pattern_bytes -= size

    def count_faulty_pattern(self, size: int) -> None:
        """Counts a pattern or a schema with an error, whose attempts compile `size` bytes at
        most.
        """
        self.count_pattern_bytes(size)
        self._has_faulty_pattern = True
