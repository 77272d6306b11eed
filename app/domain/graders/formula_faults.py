"""Finds `multi` graders that could never give a score: in their formula, or in its substitute.

Stored graders are not checked again. Must not know how a formula is computed for a sample.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import BaseModel

from app.domain.documents.pointers import parameter
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.texts.formula import parse_formula

LARGEST_SCORE: Final = 1e9
"""Absolute limit of a score: the fp32 gradient of a larger one is not finite."""


def formula_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the faults of each `multi` grader at or below the definitions, which are given by
    their parameters.
    """
    for root, definition in definitions:
        for path, grader in _multi_graders(definition):
            never = parse_formula(grader.calculate_output).never
            if never is not None:
                why = f"the formula never has a value ({never})"
                yield refused_value(parameter(root, (*path, "calculate_output")), why)
            instead = grader.invalid_grade
            if instead is not None and not abs(instead) <= LARGEST_SCORE:
                why = f"a score must be between -{LARGEST_SCORE:g} and {LARGEST_SCORE:g}"
                yield refused_value(parameter(root, (*path, "invalid_grade")), why)


def _multi_graders(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[Any, MultiGrader]]:
    """Yields the `multi` graders of a definition; none is below a list, a map or another one."""
    match value:
        case MultiGrader():
            yield path, value
        case BaseModel():
            for name, below in value.__dict__.items():
                yield from _multi_graders(below, (*path, name))
        case _:
            return
