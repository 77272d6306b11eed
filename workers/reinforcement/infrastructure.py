"""Decides whether too many rollouts were lost to failures of tools or graders to use the rest.

Owns the message for the customer. Must not know how a run reacts.
"""

from collections import Counter
from collections.abc import Sequence

from app.domain.rollouts.trajectory import ScoredRollout
from workers.reinforcement.summary import valid_share


def too_many_lost(rollouts: Sequence[ScoredRollout], *, limit: float) -> str | None:
    """Returns the lost share and its main cause in words a customer can act on; `None` while the
    share is below `limit`.
    """
    lost = 1.0 - valid_share(rollouts)
    if not rollouts or lost < limit:
        return None
    failures = [rollout.failure for rollout in rollouts if rollout.failure is not None]
    counted = [(failure.source, failure.failure_class, failure.message) for failure in failures]
    (source, kind, message), _ = Counter(counted).most_common(1)[0]
    return (
        f"{lost:.0%} of the step's rollouts were lost to failures of tools or graders "
        f"(mostly '{source}', {kind.value}: {message})"
    )
