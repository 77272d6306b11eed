"""Estimates the cost of a job: steps and rollouts by arithmetic, tokens and time by measured
means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from app.jobs.jobs import Usage
from app.jobs.method_parts import (
    ROOT,
    batch_size,
    is_http,
    job_tools,
    method_of,
    method_type,
    no_room_share,
    reads_difficulty,
    reasoning_effort,
    reinforcement_hyperparameters,
    reinforcement_of,
    train_on,
)
from app.jobs.methods import StoredMethod
from app.jobs.preflight import DatasetReport, Estimate, InspectionRequest
from app.jobs.reinforcement import (
    ReinforcementHyperparameters,
    ReinforcementMethod,
    ResolvedHyperparameters,
    resolve_hyperparameters,
)
from app.jobs.requests import JobRequest
from app.jobs.row_tries import NO_NEEDS, row_needs
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.errors import InvalidRequest, PreflightIssue
from app.models.models import (
    BASE_MODEL_UNSUPPORTED,
    BaseModelSpec,
    base_of,
    student_named,
    unknown_model,
    unknown_student,
)
from app.rollouts.renderer import tool_use

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


def model_fault(base: BaseModelSpec | None, *, runs_calls: bool) -> InvalidRequest | None:
    """Returns the error for a model that cannot be trained here, or, for a job that calls tools or
    plays in an environment, that cannot do so. Reads the model's files for such a job, which is
    slow the first time.
    """
    if base is None:
        return None
    if base.refusal is not None:
        return _unsupported(f"Model {base.name} cannot be trained here: {base.refusal}")
    fault = tool_use(base).fault if runs_calls else None
    if fault is None:
        return None
    return _unsupported(
        f"Model {base.name} {fault}. Use another model, or a job without tools, MCP servers and "
        "environment."
    )


def _unsupported(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="model", code=BASE_MODEL_UNSUPPORTED)


def base_model(
    body: dict[str, Any], base_models: tuple[BaseModelSpec, ...], issues: list[PreflightIssue]
) -> BaseModelSpec | None:
    """Returns the base model of the call, or the base of the tuned model that it names. An unknown
    name adds an issue.
    """
    name = body.get("model")
    if not isinstance(name, str):
        return None
    base = base_of(base_models, name)
    if base is None:
        student = student_named(name)
        message = unknown_student(student) if student else unknown_model(name, base_models)
        issues.append(PreflightIssue("error", "model_not_available", message, "model"))
    return base


def estimate_of(
    new: JobRequest | None,
    base: BaseModelSpec | None,
    dataset: DatasetReport | None,
    *,
    pace: Pace | None,
    knows_jobs: bool = True,
) -> Estimate | None:
    """Estimates the cost; `None` if the call or its dataset is unusable, or for other methods.
    `knows_jobs` is false where no service knows the pace of a project's jobs.
    """
    if base is None or dataset is None or dataset.training is None or not dataset.training.rows:
        return None
    match None if new is None else new.method:
        case ReinforcementMethod() as method:
            hyper = resolve_hyperparameters(
                method, train_rows=dataset.training.rows, base_model=base
            )
            return estimate(
                hyper,
                dataset,
                context_length=base.context_length,
                pace=pace,
                tokens_per_s=base.tokens_per_s,
                knows_jobs=knows_jobs,
            )
        case SupervisedMethod() | DpoMethod() | None:
            return None
        case method:
            assert_never(method)


def inspection_of_job(
    method: StoredMethod,
    base: BaseModelSpec | None,
    *,
    training: Path | None,
    validation: Path | None,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> InspectionRequest:
    """Returns the request to inspect the files of a job that exists."""
    return inspection_request(
        {"method": method.document},
        base,
        training=training,
        validation=validation,
        shared_tools=shared_tools,
    )


def inspection_request(
    body: dict[str, Any],
    base: BaseModelSpec | None,
    *,
    training: Path | None,
    validation: Path | None,
    sample_rows: int = 0,
    shared_tools: tuple[dict[str, Any], ...] = (),
) -> InspectionRequest:
    """Returns the request to inspect the files of a call, with all settings that affect it."""
    method, kind = method_of(body), method_type(body)
    needs = NO_NEEDS
    played = False
    numbers: ReinforcementHyperparameters | None = None
    full: float | None = None
    by_difficulty = False
    match kind:
        case "reinforcement":
            by_difficulty = reads_difficulty(method)
            needs = row_needs(method.get(kind), ROOT)
            played = is_http(reinforcement_of(method))
            full = no_room_share(method)
            numbers = reinforcement_hyperparameters(reinforcement_of(method))
        case "supervised" | "dpo":
            pass
        case _:
            assert_never(kind)
    return InspectionRequest(
        method=kind,
        training=training,
        validation=validation,
        job_tools=job_tools(method),
        calls_answered=played,
        base_model=base,
        reasoning_effort=reasoning_effort(method),
        train_on=train_on(method),
        needs=needs,
        batch_size=batch_size(body),
        hyperparameters=numbers,
        no_room_share=full,
        sample_rows=sample_rows,
        shared_tools=shared_tools,
        reads_difficulty=by_difficulty,
        names_method=body.get("method") is not None,
    )
