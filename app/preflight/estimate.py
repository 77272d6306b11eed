"""Estimates the cost of a job: steps and rollouts by arithmetic, tokens and time by measured means.

Must not know the source of a pace.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.jobs.creation.preflight import DatasetReport, Estimate
from app.domain.jobs.usage import Usage
from app.domain.methods.reinforcement import ResolvedHyperparameters

_ASSUMED_FILL = 0.25
"""Assumed share of the context after the prompt that a rollout fills, for projects without history:
between a short answer and an agent that runs into the limit.
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """Means over a project's finished jobs on one base model."""

    completion_tokens_per_rollout: float
    seconds_per_rollout: float
    """Wall time of a job, training included, divided by its rollouts."""
    jobs: int


def pace_of(used: Sequence[Usage]) -> Pace | None:
    """Returns the mean pace of jobs, weighted by rollouts; `None` without rollouts."""
    rollouts = sum(usage.rollouts for usage in used)
    if not rollouts:
        return None
    return Pace(
        completion_tokens_per_rollout=sum(usage.completion_tokens for usage in used) / rollouts,
        seconds_per_rollout=sum(usage.training_time_s for usage in used) / rollouts,
        jobs=len(used),
    )


def estimate(
    hyper: ResolvedHyperparameters,
    dataset: DatasetReport,
    *,
    context_length: int,
    pace: Pace | None,
    tokens_per_s: float | None = None,
    knows_jobs: bool = True,
) -> Estimate | None:
    """Returns the estimate; `None` unless both files contain a measured row. `tokens_per_s` is the
    operator's setting for the base model, used if the project has no history; `knows_jobs` says
    whether a missing pace means that.
    """
    training, validation = dataset.training, dataset.validation
    if training is None or validation is None or not (training.tokens and validation.tokens):
        return None
    train_rollouts = training.rows * hyper.n_epochs * hyper.group_size
    # Evaluations: of the base model before the first step, after every interval, after the last.
    evaluations = 1 + -(-hyper.total_steps // hyper.eval_interval)
    # The report samples the published model and the one at the start once more.
    per_row = hyper.evaluation.rollouts_per_row * evaluations + 2 * hyper.evaluation.samples
    valid_rollouts = validation.rows * per_row
    rollouts = train_rollouts + valid_rollouts
    prompt_tokens = round(
        train_rollouts * training.tokens.mean + valid_rollouts * validation.tokens.mean
    )
    if pace is None:
        completion = _ASSUMED_FILL * max(0.0, context_length - training.tokens.mean)
        seconds = None if tokens_per_s is None else completion / tokens_per_s
    else:
        completion, seconds = pace.completion_tokens_per_rollout, pace.seconds_per_rollout
    return Estimate(
        total_steps=hyper.total_steps,
        train_rollouts=train_rollouts,
        validation_rollouts=valid_rollouts,
        prompt_tokens=prompt_tokens,
        completion_tokens=round(rollouts * completion),
        training_seconds=None if seconds is None else round(rollouts * seconds, 1),
        basis="assumption" if pace is None else "history",
        explanation=_explanation(pace, tokens_per_s, knows_jobs=knows_jobs),
    )


def _explanation(pace: Pace | None, tokens_per_s: float | None, *, knows_jobs: bool) -> str:
    if pace is not None:
        return (
            f"Tokens and time of a rollout are the means of the last {pace.jobs} finished job(s) "
            "of this project on this base model; slower tools or another worker change them."
        )
    why = "This project has no finished job on this base model: each" if knows_jobs else "Each"
    return (
        f"{why} rollout is assumed to fill {_ASSUMED_FILL:.0%} of the context behind its prompt, "
        "at the tokens per second configured for the base model"
        + ("." if tokens_per_s is not None else " (none are configured: time is unknown).")
    )
