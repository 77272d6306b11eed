"""Counts the training rollouts that a run has lost to failures, for the message of a run that
trained nothing: a lost rollout has no reward, so its group has fewer differences.
"""

from collections import Counter
from typing import Final

from app.domain.rollouts import metrics as names
from app.domain.rollouts.rollouts import RolloutFilter
from app.domain.rollouts.trajectory import FailureClass
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext

_LEAST_SHARE: Final = 0.1
"""Share of lost rollouts from which they may be the cause."""
_COUNTS: Final = (
    names.DISCARDED_COUNT,
    names.ROLLOUTS_VALID,
    *(names.discarded_metric(each) for each in FailureClass),
)


async def nothing_trained(context: RunContext, reason: str) -> str:
    """Returns the method's `reason` for training nothing, preceded by the share of lost rollouts
    and their main class unless that share is small.
    """
    return await retry_while_unavailable(lambda: _with_losses(context, reason))


async def _with_losses(context: RunContext, reason: str) -> str:
    job_id = context.job.id
    async with context.unit() as unit:
        points = await unit.metrics.curve(
            job_id, names=list(_COUNTS), split="train", after_step=None
        )
        totals = Counter[str]()
        for point in points:
            totals[point.name] += round(point.value)
        lost = totals[names.DISCARDED_COUNT]
        share = lost / max(1, lost + totals[names.ROLLOUTS_VALID])
        if share < _LEAST_SHARE:
            return reason
        main = max(FailureClass, key=lambda each: totals[names.discarded_metric(each)])
        where = RolloutFilter(split="train", failure_class=main)
        rows, _ = await unit.rollouts.page(job_id, where, after=None, limit=1)
    shown = f"{main}: {rows[0].failure_message}" if rows else main
    return (
        f"{share:.0%} of the training rollouts were lost to failures (mostly {shown}), which have "
        f"to be corrected first. Among the others {reason}"
    )
