"""What a run hands over once it has trained: the adapter to publish, and what is said of it.

Owns the choice of the adapter: the best checkpoint by validation, or the last step where no
checkpoint has a validation value. Without torch.
"""

from dataclasses import dataclass
from typing import Any

from app.domain.jobs.best_checkpoint import best_first
from app.domain.jobs.stop_rules import RuleTrigger
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


@dataclass(frozen=True, slots=True)
class Trained:
    step: int
    """Whose adapter is published."""
    adapter_key: str
    report: dict[str, Any] | None
    """`None` where there are no two validations to compare."""
    ended_early: RuleTrigger | None = None
    """The rule that ended the training."""


async def best_adapter(context: RunContext) -> tuple[int, str]:
    """Step and object key of the adapter to publish. Call after at least one step."""

    async def read() -> tuple[int, str]:
        async with context.unit() as unit:
            step, _, adapter_key = await unit.jobs.resume_point()
            kept = await unit.checkpoints.kept(context.job.id)
            checkpoints = await unit.checkpoints.all(context.job.id)
        for one in best_first(checkpoints):
            if one.step in kept:
                return one.step, kept[one.step]
        return step, str(adapter_key)

    return await retry_while_unavailable(read)
