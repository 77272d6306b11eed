"""All differences between runs of two methods; importing an implementation loads no torch."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.database import RunUnitOfWork
from app.files.datasets import Overlap
from app.jobs.methods import StoredMethod
from app.jobs.results import best_first
from app.jobs.stop_options import StopOptions
from app.jobs.stop_rules import ObjectiveCurves, RuleTrigger
from workers.runs.context import RunContext
from workers.runs.reporter import Reporter, StepReport
from workers.runs.step_outcome import Stopping


@dataclass(frozen=True, slots=True)
class TrainingResult:
    step: int
    adapter_key: str
    report: dict[str, Any] | None
    ended_early: RuleTrigger | None = None


def with_overlap(result: TrainingResult, overlap: Overlap | None) -> TrainingResult:
    """Adds to the report how many held-out rows were trained on."""
    if result.report is None or overlap is None:
        return result
    return replace(result, report={**result.report, "rows_in_training": overlap.rows})


@dataclass(frozen=True, slots=True)
class ChosenAdapter:
    step: int
    key: str
    among: int
    """Validated checkpoints that it was chosen from; 1 where no validation chose it."""


async def best_adapter(context: RunContext) -> ChosenAdapter:
    """Returns the adapter to publish. Call after at least one step."""

    async def read(unit: RunUnitOfWork) -> ChosenAdapter:
        last = await unit.jobs.resume_point()
        kept = await unit.checkpoints.kept(context.job.id)
        checkpoints = await unit.checkpoints.all(context.job.id)
        ranked = best_first(checkpoints)
        for checkpoint in ranked:
            if checkpoint.step in kept:
                return ChosenAdapter(checkpoint.step, kept[checkpoint.step], among=len(ranked))
        return ChosenAdapter(last.step, str(last.adapter_key), among=1)

    return await context.in_unit(read)


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


CheckStop = Callable[[], None]
"""Runs before each step and raises to end the training; `StoppedEarly` ends it as a success."""


@dataclass(frozen=True, slots=True)
class PreparedRun:
    total_steps: int
    resolved_method: StoredMethod
    """The job's `method` with every default and every `auto` replaced by its value."""
    train: Callable[[Reporter, CheckStop], Awaitable[TrainingResult]]
    """Trains from the last committed step to the end, or to the step at which a rule ends the job,
    and commits every step. Raises `RunFailed`, and what `CheckStop` raises except `StoppedEarly`.
    """
    file_warnings: Sequence[str]
    overlap: Overlap | None
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Method:
    report: StepReport
    stop_options: StopOptions
    watched: ObjectiveCurves
    prepare: Callable[[], Awaitable[PreparedRun]]
    """Checks the job's files. Raises `RunFailed` for the first fault, with line and pointer."""
    trained_effort: str | None = None
    """The reasoning effort that calls of the tuned model use; `None` for the model's own."""


def build_reporter(context: RunContext, method: Method, *, tuned_name: str) -> Reporter:
    return Reporter(
        context,
        tuned_name,
        report=method.report,
        stopping=Stopping(context, method.stop_options, watched=method.watched),
        trained_effort=method.trained_effort,
    )
