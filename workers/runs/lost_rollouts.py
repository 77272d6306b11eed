"""Tells how many training rollouts a run has lost to failures, for the message of a run that
trained nothing: what is lost has no reward, so that it takes differences out of the groups.
"""

from collections import Counter

from app.domain.rollouts import metrics as names
from app.domain.rollouts.rollouts import RolloutFilter
from app.domain.rollouts.trajectory import FailureClass
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


async def nothing_trained(context: RunContext, reason: str) -> str:
    """Returns `reason` of a method for training nothing, after the share of lost rollouts and their
    main class if there are any.
    """
    return await retry_while_unavailable(lambda: _with_losses(context, reason))


async def _with_losses(context: RunContext, reason: str) -> str:
    job_id = context.job.id
    async with context.unit() as unit:
        points = await unit.metrics.curve(job_id, names=None, split="train", after_step=None)
        totals = Counter[str]()
        for point in points:
            totals[point.name] += round(point.value)
        lost = totals[names.DISCARDED_COUNT]
        if not lost:
            return reason
        main = max(FailureClass, key=lambda each: totals[names.discarded_metric(each)])
        where = RolloutFilter(split="train", failure_class=main)
        rows, _ = await unit.rollouts.page(job_id, where, after=None, limit=1)
    share = lost / (lost + totals[names.ROLLOUTS_VALID])
    shown = f"{main}: {rows[0].failure_message}" if rows else main
    return (
        f"{share:.0%} of the training rollouts were lost to failures (mostly {shown}), which have "
        f"to be mended first. Among the others {reason}"
    )
