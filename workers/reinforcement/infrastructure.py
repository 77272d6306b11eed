"""Decides whether too many rollouts were lost to failures of tools or graders to use the rest.

Owns the message for the customer and its cure. Must not know how a run reacts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.errors import ENDPOINT_UNAVAILABLE, JUDGE_WITHOUT_SCORE, PYTHON_ERROR
from app.domain.rollouts.trajectory import Failure, FailureClass, ScoredRollout
from workers.reinforcement.summary import valid_share

_CURES: Final = {
    PYTHON_ERROR: (
        "Correct the grader's source, try it with POST /v1/fine_tuning/alpha/graders/run,"
    ),
    "model_grader_parse_error": (
        "Use a judge that keeps to the answer format, or give it more max_completion_tokens,"
    ),
    "model_grader_refusal_error": "Change the judge's prompt, or use another judge,",
}


@dataclass(frozen=True, slots=True)
class Losses:
    """A lost share over the limit."""

    reason: str
    """The share and its main cause, in words a customer can act on."""
    cause: FailureClass
    """The class of most failures."""
    flag: str | None = None
    """The error flag of most failures, where a judge answered without a score, or the customer's
    function failed.
    """

    @property
    def cure(self) -> str:
        if self.flag is not None:
            return _CURES[self.flag]
        if self.cause is FailureClass.GRADER_ITEM_MISSING:
            return "Correct the grader's template, or give every row that key"
        return "Repair the endpoint"

    @property
    def code(self) -> str:
        """Error code of a job that ends for it."""
        if self.flag == PYTHON_ERROR:
            return PYTHON_ERROR
        if self.flag is not None:
            return JUDGE_WITHOUT_SCORE
        if self.cause is FailureClass.GRADER_ITEM_MISSING:
            return "invalid_grader_template"
        return ENDPOINT_UNAVAILABLE


def too_many_lost(rollouts: Sequence[ScoredRollout], *, limit: float) -> Losses | None:
    """Returns `None` while the lost share is below `limit`."""
    lost = 1.0 - valid_share(rollouts)
    if not rollouts or lost < limit:
        return None
    failures = [rollout.failure for rollout in rollouts if rollout.failure is not None]
    counted = [
        (failure.source, failure.failure_class, failure.message, _answer_flag(failure))
        for failure in failures
    ]
    (source, cause, message, flag), _ = Counter(counted).most_common(1)[0]
    reason = (
        f"{lost:.0%} of the step's rollouts were lost to failures of tools or graders "
        f"(mostly '{source}', {cause.value}: {message})"
    )
    return Losses(reason, cause, flag)


def _answer_flag(failure: Failure) -> str | None:
    """Returns the flag of a judge's answer without a score or of a function that failed; `None` for
    any other failure.
    """
    measured = failure.measures.get(failure.child or "", {})
    return next((flag for flag in _CURES if measured.get(f"errors/{flag}")), None)
