"""Finds values of graders by which every sample passes, or none.

Reported when a definition is created or checked; stored graders are not checked again. Must not
know how anything is scored.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import BaseModel

from app.domain.documents.pointers import Path, parameter
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.grader_model import GraderModel
from app.domain.graders.kinds.multi import MultiGrader

_ROUNDING: Final = 1e-9
"""Relative error of a formula's bounds, as floats are added in another order for a sample."""


def value_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the faults of each grader at or below the definitions, which are given by their
    parameters.
    """
    for root, definition in definitions:
        for path, grader in _graders(definition, ()):
            for below, reason in (*_threshold_faults(grader), *grader.empty_texts):
                yield refused_value(parameter(root, (*path, *below)), reason)


def out_of_range(score: float, grader: GraderModel) -> str | None:
    """Returns why a limit of a score is useless: every score of the grader reaches it, or none."""
    low, high = grader.score_range
    if low < score <= high + _ROUNDING * max(1.0, abs(high)):
        return None
    shown = " to ".join("no limit" if math.isinf(end) else f"{end:g}" for end in (low, high))
    return (
        f"the scores of the grader are from {shown}: send a number above the lowest and not "
        "above the highest, so that some rollouts can pass and some not"
    )


def _threshold_faults(grader: GraderModel) -> Iterator[tuple[Path, str]]:
    if grader.pass_threshold is not None:
        reason = out_of_range(grader.pass_threshold, grader)
        if reason is not None:
            yield ("pass_threshold",), reason


def _graders(value: Any, path: Path) -> Iterator[tuple[Path, GraderModel]]:
    """Yields the graders of a definition; none is below a list."""
    match value:
        case MultiGrader():
            yield path, value
            for name, part in value.graders.items():
                yield (*path, "graders", name), part
        case GraderModel():
            yield path, value
        case BaseModel():
            for name, below in value.__dict__.items():
                yield from _graders(below, (*path, name))
        case _:
            return
