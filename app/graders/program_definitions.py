"""Faults of the python graders of a request.

They are reported when a definition is created or checked, never when a stored one is read. Parsing
is slow and belongs on a thread, but holds the interpreter lock even there. The total size of a
request's sources is therefore limited, and sources beyond a second limit are only checked by the
sandbox.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import GraderModel
from app.graders.python_source import MAX_READ, MAX_SOURCES, SourceFault, check_size, check_source
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter

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


class PythonGrader(GraderModel):
    """A function `grade(sample, item)` that returns the score; it runs in the sandbox."""

    type: Literal["python"]
    name: str = Field(default="python", min_length=1, max_length=256)
    source: str
    """The source, at most 256,000 bytes, that defines `grade`. It can use no files, no network and
    no other process, and by default 5 seconds and 256 MiB, which the operator can change.
    """
    image_tag: str | None = Field(
        default=None, min_length=1, max_length=128, exclude_if=lambda value: value is None
    )
    """It is echoed without effect: the operator determines the modules."""

    @field_validator("source")
    @classmethod
    def _is_taken(cls, source: str) -> str:
        # `source_faults` parses it: this runs on the event loop, and for each stored grader.
        try:
            check_size(source)
        except SourceFault as fault:
            raise PydanticCustomError("source_error", "{fault}", {"fault": str(fault)}) from None
        return source

    @property
    @override
    def reads_beside_templates(self) -> bool:
        return True

    @property
    @override
    def repeats_its_scores(self) -> bool:
        return False


def source_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the first fault of each python grader at or below the definitions, which are given by
    their parameters. Yields only one fault if the sources are too large in total.
    """
    sources = [
        (parameter(root, (*path, "source")), grader.source)
        for root, definition in definitions
        for path, grader in python_graders(definition)
    ]
    too_many = _too_many(sources)
    if too_many is not None:
        yield too_many
        return
    left = MAX_READ
    for param, source in sources:
        left -= len(source.encode())
        if left < 0:
            return
        try:
            check_source(source)
        except SourceFault as fault:
            yield refused_value(param, str(fault))


def _too_many(sources: Sequence[tuple[str, str]]) -> InvalidRequest | None:
    """Returns the error for the source that exceeds the total limit."""
    together = 0
    for param, source in sources:
        together += len(source.encode())
        if together > MAX_SOURCES:
            limit = f"at most {MAX_SOURCES} bytes together"
            return refused_value(
                param, f"the sources of all python graders of a request have {limit}"
            )
    return None


def python_graders(definition: BaseModel) -> Iterator[tuple[Path, PythonGrader]]:
    """Yields each python grader at or below `definition` with its path."""
    yield from _python_graders(definition, ())


def _python_graders(value: Any, path: Path) -> Iterator[tuple[Path, PythonGrader]]:
    match value:
        case PythonGrader():
            yield path, value
        case BaseModel():
            for name, below in value.__dict__.items():
                yield from _python_graders_in(below, (*path, name))
        case _:
            return


def _python_graders_in(value: Any, path: Path) -> Iterator[tuple[Path, PythonGrader]]:
    """Searches models, and lists and maps of models; free-form JSON contains none."""
    match value:
        case BaseModel():
            yield from _python_graders(value, path)
        case dict():
            for name, below in value.items():
                yield from _python_graders(below, (*path, name))
        case list() | tuple():
            for number, below in enumerate(value):
                yield from _python_graders(below, (*path, number))
        case _:
            return
