"""Faults of the python graders of a request.

They are reported when a definition is created or checked, never when a stored one is read. Parsing
is slow and belongs on a thread, but holds the interpreter lock even there. The total size of a
request's sources is therefore limited, and sources beyond a second limit are only checked by the
sandbox.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from app.domain.documents.pointers import Path, parameter
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.kinds.python import PythonGrader
from app.domain.graders.python_source import MAX_READ, MAX_SOURCES, SourceFault, check_source


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
