"""The result of a training: the adapter to publish, the report, and the rule that ended it early.

Owns the choice of the adapter: the best checkpoint by validation, or the last step where no
checkpoint has a validation value. Without torch.
"""

from dataclasses import dataclass, replace
from typing import Any

from app.domain.data.prompts import Overlap
from app.domain.jobs.best_checkpoint import best_first
from app.domain.jobs.stop_rules.stop_rules import RuleTrigger
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


@dataclass(frozen=True, slots=True)
class TrainingResult:
    step: int
    """The step whose adapter is published."""
    adapter_key: str
    report: dict[str, Any] | None
    """`None` without two validations to compare."""
    ended_early: RuleTrigger | None = None
    """The rule that ended the training."""


def with_overlap(result: TrainingResult, overlap: Overlap | None) -> TrainingResult:
    """Adds to the report how many held-out rows were trained on."""
    if result.report is None or overlap is None:
        return result
    return replace(result, report={**result.report, "rows_in_training": overlap.rows})


@dataclass(frozen=True, slots=True)
class ChosenAdapter:
    step: int
    key: str
    """Key of its object."""
    among: int
    """Validated checkpoints that it was chosen from; 1 where no validation chose it."""


async def best_adapter(context: RunContext) -> ChosenAdapter:
    """Returns the adapter to publish. Call after at least one step."""

    async def read() -> ChosenAdapter:
        async with context.unit() as unit:
            last = await unit.jobs.resume_point()
            kept = await unit.checkpoints.kept(context.job.id)
            checkpoints = await unit.checkpoints.all(context.job.id)
        ranked = best_first(checkpoints)
        for checkpoint in ranked:
            if checkpoint.step in kept:
                return ChosenAdapter(checkpoint.step, kept[checkpoint.step], among=len(ranked))
        return ChosenAdapter(last.step, str(last.adapter_key), among=1)

    return await retry_while_unavailable(read)


def report_head(
    context: RunContext, chosen: ChosenAdapter, ended_early: RuleTrigger | None
) -> dict[str, Any]:
    """Returns the fields that a report has by any method: job, models, the published step."""
    return {
        "object": "fine_tuning.job.report",
        "job_id": context.job.id,
        "method": context.job.method.kind,
        "base_model": context.base_model.name,
        "start_model": context.job.model,
        "step": chosen.step,
        "chosen_among": chosen.among,
        "ended_early": None if ended_early is None else ended_early.to_json(),
    }
