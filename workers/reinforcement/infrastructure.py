"""Decides whether too many rollouts were lost to failures of tools or graders to use the rest.

Owns the message for the customer and its cure. Must not know how a run reacts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.errors import ENDPOINT_UNAVAILABLE
from app.domain.rollouts.trajectory import FailureClass, ScoredRollout
from workers.reinforcement.summary import valid_share


@dataclass(frozen=True, slots=True)
class Losses:
    """A lost share over the limit."""

    reason: str
    """The share and its main cause, in words a customer can act on."""
    cause: FailureClass
    """The class of most failures."""

    @property
    def cure(self) -> str:
        if self.cause is FailureClass.GRADER_ITEM_MISSING:
            return "Correct the grader's template, or give every row that key"
        return "Repair the endpoint"

    @property
    def code(self) -> str:
        """Error code of a job that ends for it."""
        if self.cause is FailureClass.GRADER_ITEM_MISSING:
            return "invalid_grader_template"
        return ENDPOINT_UNAVAILABLE


def too_many_lost(rollouts: Sequence[ScoredRollout], *, limit: float) -> Losses | None:
    """Returns `None` while the lost share is below `limit`."""
    lost = 1.0 - valid_share(rollouts)
    if not rollouts or lost < limit:
        return None
    failures = [rollout.failure for rollout in rollouts if rollout.failure is not None]
    counted = [(failure.source, failure.failure_class, failure.message) for failure in failures]
    (source, cause, message), _ = Counter(counted).most_common(1)[0]
    reason = (
        f"{lost:.0%} of the step's rollouts were lost to failures of tools or graders "
        f"(mostly '{source}', {cause.value}: {message})"
    )
    return Losses(reason, cause)
