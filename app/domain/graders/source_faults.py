"""Faults of the python graders in a definition.

They are reported when a definition is made or checked, never when a stored one is read. Parsing is
slow enough to belong on a thread.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from app.domain.documents.pointers import Path, parameter
from app.domain.errors import InvalidRequest
from app.domain.graders.kinds.python import PythonGrader
from app.domain.graders.python_source import SourceFault, check_source


def source_faults(definition: BaseModel, root: str) -> Iterator[InvalidRequest]:
    """Yields the first fault of each python grader at or below `definition`."""
    for path, grader in _python_graders(definition, ()):
        try:
            check_source(grader.source)
        except SourceFault as fault:
            param = parameter(root, (*path, "source"))
            message = f"Invalid value for '{param}': {fault}."
            yield InvalidRequest(message, param=param, code="invalid_value")


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
    """Looks into models and into lists and maps of models; JSON of no known schema has none."""
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
