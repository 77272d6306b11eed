"""The limit of scores in jobs, evals and trial runs.

A score beyond it is an error of the grader and never a reward: the rollout leaves the batch, the
item of an eval is an error, and a trial reports it.
"""

import math
from typing import Any, Final

from app.domain.graders.formula_faults import LARGEST_SCORE
from app.grading.scorer import (
    BAD_SCORE,
    GradeRequest,
    GraderErrors,
    ScoreFault,
    Scorer,
    ScoreResult,
)

BEYOND: Final = "the score "
"""Beginning of the message about a larger score."""


class BoundedScorer:
    """Implements `Scorer`: passes on the scores within the bound."""

    def __init__(self, scorer: Scorer, *, source: str) -> None:
        self._scorer = scorer
        self._source = source

    async def score(self, request: GradeRequest) -> ScoreResult:
        return within_bound(await self._scorer.score(request), source=self._source)


def within_bound(result: ScoreResult, *, source: str) -> ScoreResult:
    """Returns the result. Raises `ScoreFault` for a score beyond the bound."""
    if is_usable(result.score):
        return result
    try:
        shown = f"{result.score:g}"
    except OverflowError:
        shown = "of more than 308 digits"
    message = f"{BEYOND}{shown} is beyond ±{LARGEST_SCORE:g}"
    errors = GraderErrors(other_error=True, details=message)
    fault = ScoreFault(BAD_SCORE, message, source=source, errors=errors)
    used = {name: child.token_usage for name, child in result.children.items()}
    spent = used or {"": result.token_usage}
    fault.spent = {name: usage for name, usage in spent.items() if usage}
    fault.sampled_model_name = result.sampled_model_name
    raise fault


def is_usable(score: float) -> bool:
    """Returns whether a number is within the limit. A comparison with NaN is false, and an integer
    of any size is compared without a conversion to float.
    """
    return abs(score) <= LARGEST_SCORE


def finite(value: Any) -> float | None:
    """Returns a JSON value as a float, `None` unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
