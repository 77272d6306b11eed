"""The estimated cost of a compiled plan, from the rows of its files. Pure."""

from dataclasses import dataclass
from typing import Any, assert_never

from app.domain.documents.field_descriptions import DescribedFields
from app.domain.jobs.creation.preflight import Estimate, FileSummary, PreflightReport
from app.domain.methods.supervised import MethodType

_NO_TIME = (
    "The time is unknown until a job of this project on this base model has finished: no pace has "
    "been measured."
)
_NO_SAMPLES = (
    "Steps are the rows divided by the rows of a step, times the passes. The method samples no "
    "rollouts; its tokens and time are not estimated."
)


@dataclass(frozen=True, slots=True)
class PlanEstimate(DescribedFields):
    """Estimated cost of a plan's job if no rule stops it early."""

    training_rows: int
    """Rows of the training file."""
    validation_rows: int | None
    """Rows of the validation file; `null` without one."""
    total_steps: int
    """Optimizer steps of the whole job."""
    rollouts: int
    """Rollouts of training and all validations; 0 for methods that sample none."""
    prompt_tokens: int | None
    """Tokens of the prompts of all rollouts; `null` if they are unknown."""
    completion_tokens: int | None
    """Tokens that the model would sample; `null` if they are unknown."""
    training_seconds: float | None
    """Seconds on one worker by the measured pace of finished jobs; `null` without one."""
    explanation: str
    """The basis of the numbers, and the reason for each `null`."""


def plan_estimate(
    kind: MethodType, job: dict[str, Any], report: PreflightReport
) -> PlanEstimate | None:
    """Returns the cost of a job whose files were read; `None` without a readable file."""
    training = None if report.dataset is None else report.dataset.training
    validation = None if report.dataset is None else report.dataset.validation
    if training is None or not training.rows:
        return None
    held_out = None if validation is None else validation.rows
    match kind:
        case "reinforcement":
            found = report.estimate
            return None if found is None else _sampled(found, training.rows, held_out)
        case "supervised" | "dpo":
            return _offline(job["method"][kind]["hyperparameters"], training, held_out)
        case _:
            assert_never(kind)


def _sampled(found: Estimate, training_rows: int, validation_rows: int | None) -> PlanEstimate:
    measured = found.basis == "history"
    return PlanEstimate(
        training_rows=training_rows,
        validation_rows=validation_rows,
        total_steps=found.total_steps,
        rollouts=found.train_rollouts + found.validation_rollouts,
        prompt_tokens=found.prompt_tokens,
        completion_tokens=found.completion_tokens,
        training_seconds=found.training_seconds if measured else None,
        explanation=found.explanation if measured else f"{found.explanation} {_NO_TIME}",
    )


def _offline(
    sent: dict[str, Any], training: FileSummary, validation_rows: int | None
) -> PlanEstimate:
    per_step = min(int(sent["batch_size"]), training.rows)
    return PlanEstimate(
        training_rows=training.rows,
        validation_rows=validation_rows,
        total_steps=-(-training.rows // per_step) * int(sent["n_epochs"]),
        rollouts=0,
        prompt_tokens=None,
        completion_tokens=None,
        training_seconds=None,
        explanation=_NO_SAMPLES,
    )
