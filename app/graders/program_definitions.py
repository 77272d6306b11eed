"""The python grader, and the faults of the code in a definition: sources, patterns and schemas.

They are reported when a definition is created or checked, never when a stored one is read. Parsing
a source is slow and belongs on a thread, but holds the interpreter lock even there. The total size
of a request's sources is therefore limited, and sources beyond a second limit are only checked by
the sandbox.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import GraderModel
from app.graders.json_schemas import CHECK_LIMIT_S, JsonSchemaFault, check_pattern, check_schema
from app.graders.python_source import MAX_READ, MAX_SOURCES, SourceFault, check_size, check_source
from app.graders.text_definitions import JsonValidGrader, RegexGrader
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter


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


def pattern_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the fault of each expression and each JSON Schema at or below the definitions that
    cannot be compiled. For a thread: it asks another process.
    """
    ends = time.monotonic() + CHECK_LIMIT_S
    for root, definition in definitions:
        for path, grader in graders_in(definition):
            field = "pattern" if isinstance(grader, RegexGrader) else "json_schema"
            try:
                _compile(grader, is_late=time.monotonic() > ends)
            except JsonSchemaFault as fault:
                yield refused_value(parameter(root, (*path, field)), str(fault))


def _compile(grader: GraderModel, *, is_late: bool) -> None:
    """Raises `JsonSchemaFault`."""
    match grader:
        case RegexGrader() | JsonValidGrader(json_schema=dict()) if is_late:
            raise JsonSchemaFault("those before it take too long together; make them simpler")
        case RegexGrader(pattern=pattern, whole=whole, ignore_case=ignore_case):
            check_pattern(pattern, whole=whole, ignore_case=ignore_case)
        case JsonValidGrader(json_schema=dict() as schema):
            check_schema(schema)
        case _:
            return


def python_graders(definition: BaseModel) -> Iterator[tuple[Path, PythonGrader]]:
    """Yields each python grader at or below `definition` with its path."""
    for path, grader in graders_in(definition):
        if isinstance(grader, PythonGrader):
            yield path, grader


def graders_in(value: Any, path: Path = ()) -> Iterator[tuple[Path, GraderModel]]:
    """Yields each grader in a model, and in its lists and maps; free-form JSON contains none."""
    if isinstance(value, GraderModel):
        yield path, value
    below: Iterable[tuple[str | int, Any]] = ()
    match value:
        case BaseModel():
            below = value.__dict__.items()
        case dict():
            below = ((name, inner) for name, inner in value.items() if isinstance(inner, BaseModel))
        case list() | tuple():
            below = ((at, inner) for at, inner in enumerate(value) if isinstance(inner, BaseModel))
        case _:
            pass
    for name, inner in below:
        yield from graders_in(inner, (*path, name))
