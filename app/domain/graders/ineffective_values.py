"""Finds values of graders by which every sample passes, or none.

Owns the range of a grader's scores, that of a `multi` included. Reported when a definition is
created or checked; stored graders are not checked again. Must not know how anything is scored.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import BaseModel

from app.domain.documents.pointers import Path, parameter
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.grader_model import GraderModel
from app.domain.graders.kinds.contains import ContainsGrader
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.kinds.string_check import StringCheckGrader
from app.domain.graders.kinds.text_similarity import TextSimilarityGrader
from app.domain.graders.texts.formula_range import Range, formula_range

_ROUNDING: Final = 1e-9
"""Relative error of a formula's bounds, as floats are added in another order for a sample."""


def value_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    """Yields the faults of each grader at or below the definitions, which are given by their
    parameters.
    """
    for root, definition in definitions:
        for path, grader in _graders(definition, ()):
            for below, reason in (*_threshold_faults(grader), *_empty_texts(grader)):
                yield refused_value(parameter(root, (*path, *below)), reason)


def out_of_range(score: float, grader: GraderModel) -> str | None:
    """Returns why a limit of a score is useless: every score of the grader reaches it, or none."""
    low, high = _range(grader)
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


def _range(grader: GraderModel) -> Range:
    """Returns bounds of the scores, infinite where the definition has none."""
    if isinstance(grader, MultiGrader):
        parts = {name: _range(part) for name, part in grader.parts.items()}
        low, high = formula_range(grader.calculate_output, parts)
        instead = grader.invalid_grade
        return (low, high) if instead is None else (min(low, instead), max(high, instead))
    low_end, high_end = grader.lowest, grader.highest
    return (
        -math.inf if low_end is None else low_end,
        math.inf if high_end is None else high_end,
    )


def _empty_texts(grader: GraderModel) -> Iterator[tuple[Path, str]]:
    """Yields the texts without placeholders that are empty where something must be in them."""
    match grader:
        case ContainsGrader(needles=needles):
            for number, needle in enumerate(needles):
                if not needle:
                    yield ("needles", number), "it is empty, and an empty text is never found"
        case TextSimilarityGrader(reference=reference):
            if not reference.strip():
                yield ("reference",), "it is blank, so that there is nothing to compare with"
        case StringCheckGrader(operation="like" | "ilike", reference=""):
            yield ("reference",), "it is empty, and every text contains an empty one"
        case _:
            return


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
