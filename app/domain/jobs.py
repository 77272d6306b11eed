"""A fine-tuning job: its states, its method with every hyperparameter, and how `auto` is resolved.

Source: the hosted API's `FineTuningJob` and `FineTuneReinforcementHyperparameters`; the rules for
`auto` are ours (the hosted ones are not public) and are written beside each field.
"""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.domain.graders import Grader
from app.domain.learning_options import LearningOptions, shown_learning
from app.domain.mode_options import shown_mode
from app.domain.models import BaseModelSpec
from app.domain.reasoning_efforts import ReasoningEffort
from app.domain.stop_options import KeepCheckpoints, ReinforcementStopOptions, absent, shown_end
from app.domain.tools import ToolSpec
from app.domain.tuning_methods import (
    Auto,
    BatchSize,
    ComputeMultiplier,
    DpoMethod,
    Epochs,
    EvalInterval,
    EvalSamples,
    LearningRateMultiplier,
    SupervisedMethod,
)
from app.domain.usage import NO_CAPS, Caps, Usage

MIN_EXAMPLES = 10
MAX_TRAIN_EXAMPLES = 100_000
MAX_VALID_EXAMPLES = 1_000
DEFAULT_ROLLOUTS_PER_EXAMPLE = 8
DEFAULT_MAX_EPISODE_STEPS = 10
MAX_TOOLS = 128
"""As many functions as the hosted API takes in one call of a model."""

RUN_TASK = "agent_rft.run_job"
SWEEP_TASK = "agent_rft.sweep"
EXPIRE_TASK = "agent_rft.expire"
RUNS_QUEUE = "runs"
CONTROL_QUEUE = "control"


class JobStatus(StrEnum):
    VALIDATING_FILES = "validating_files"
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PAUSING = "pausing"
    PAUSED = "paused"


TRANSITIONS: dict[JobStatus, frozenset[JobStatus]] = {
    JobStatus.VALIDATING_FILES: frozenset(
        {JobStatus.QUEUED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.PAUSED}
    ),
    JobStatus.QUEUED: frozenset(
        {JobStatus.RUNNING, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.PAUSED}
    ),
    JobStatus.RUNNING: frozenset(
        {
            JobStatus.SUCCEEDED,
            JobStatus.FAILED,
            JobStatus.CANCELLED,
            JobStatus.PAUSING,
            JobStatus.PAUSED,
            JobStatus.QUEUED,
        }
    ),
    JobStatus.PAUSING: frozenset(
        {
            JobStatus.PAUSED,
            JobStatus.SUCCEEDED,
            JobStatus.FAILED,
            JobStatus.CANCELLED,
            JobStatus.QUEUED,
        }
    ),
    JobStatus.PAUSED: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
    JobStatus.SUCCEEDED: frozenset(),
    JobStatus.FAILED: frozenset(),
    JobStatus.CANCELLED: frozenset(),
}

TERMINAL = frozenset(status for status, following in TRANSITIONS.items() if not following)


def may_become(current: JobStatus, following: JobStatus) -> bool:
    return following in TRANSITIONS[current]


class StopRequest(StrEnum):
    """What a user asked of a running job; read at each heartbeat."""

    CANCEL = "cancel"
    PAUSE = "pause"


class ReinforcementHyperparameters(BaseModel):
    """As sent: every field a value or `auto`. Unknown keys are kept and echoed."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    batch_size: BatchSize = "auto"
    """Examples (prompts) per optimizer step."""
    learning_rate_multiplier: LearningRateMultiplier = "auto"
    n_epochs: Epochs = "auto"
    compute_multiplier: ComputeMultiplier = "auto"
    eval_interval: EvalInterval = "auto"
    eval_samples: EvalSamples = "auto"
    reasoning_effort: ReasoningEffort = "default"


class ReinforcementMethod(LearningOptions):
    """`method.reinforcement` of the create call; unknown keys are kept and echoed."""

    grader: Grader
    tools: tuple[ToolSpec, ...] = Field(default=(), max_length=MAX_TOOLS)
    max_episode_steps: int | None = Field(default=None, ge=1, le=1000)
    response_format: dict[str, Any] | None = None
    stop: ReinforcementStopOptions | None = Field(default=None, exclude_if=absent)
    keep_checkpoints: KeepCheckpoints | None = Field(default=None, exclude_if=absent)
    hyperparameters: ReinforcementHyperparameters = ReinforcementHyperparameters()


TuningMethod = ReinforcementMethod | SupervisedMethod | DpoMethod


@dataclass(frozen=True, slots=True)
class NewJob:
    """A create call in domain words, before anything was looked up."""

    model: str
    training_file: str
    validation_file: str | None
    """Never absent for reinforcement."""
    method: TuningMethod
    seed: int | None = None
    suffix: str | None = None
    metadata: dict[str, str] | None = None
    integrations: list[dict[str, Any]] = field(default_factory=list)
    caps: Caps = NO_CAPS


@dataclass(frozen=True, slots=True)
class ResolvedHyperparameters:
    """What a run really uses, once the number of rows is known."""

    batch_size: int
    group_size: int
    """Rollouts per example, G."""
    n_epochs: int
    learning_rate: float
    eval_interval: int
    eval_samples: int
    total_steps: int
    max_episode_steps: int


def _value(sent: float | Auto, automatic: float) -> float:
    return automatic if sent == "auto" else float(sent)


def resolve_hyperparameters(
    method: ReinforcementMethod, *, train_rows: int, base_model: BaseModelSpec
) -> ResolvedHyperparameters:
    """Turn `auto` into numbers.

    - `batch_size`: a sixteenth of the rows, between 4 and 16.
    - `n_epochs`: enough for 40 steps, between 1 and 10.
    - `compute_multiplier`: 1, which is 8 rollouts per example (at least 2).
    - `learning_rate_multiplier`: 1 × the base model's own rate.
    - `eval_interval`: a fifth of the steps, at least 1.
    - `eval_samples`: 1.
    """
    sent = method.hyperparameters
    batch_size = int(_value(sent.batch_size, min(16, max(4, train_rows // 16))))
    batch_size = min(batch_size, train_rows)
    steps_per_epoch = math.ceil(train_rows / batch_size)
    n_epochs = int(_value(sent.n_epochs, min(10, max(1, math.ceil(40 / steps_per_epoch)))))
    compute = _value(sent.compute_multiplier, 1.0)
    total_steps = steps_per_epoch * n_epochs
    return ResolvedHyperparameters(
        batch_size=batch_size,
        group_size=max(2, round(DEFAULT_ROLLOUTS_PER_EXAMPLE * compute)),
        n_epochs=n_epochs,
        learning_rate=base_model.learning_rate * _value(sent.learning_rate_multiplier, 1.0),
        eval_interval=int(_value(sent.eval_interval, max(1, total_steps // 5))),
        eval_samples=int(_value(sent.eval_samples, 1)),
        total_steps=total_steps,
        max_episode_steps=method.max_episode_steps or DEFAULT_MAX_EPISODE_STEPS,
    )


def resolved_method(
    method: dict[str, Any], resolved: ResolvedHyperparameters, base_model: BaseModelSpec
) -> dict[str, Any]:
    """A job's `method` with every `auto` replaced by the number that is used."""
    reinforcement = dict(method["reinforcement"])
    sent = dict(reinforcement.get("hyperparameters") or {})
    numbers = {
        "batch_size": resolved.batch_size,
        "n_epochs": resolved.n_epochs,
        "learning_rate_multiplier": resolved.learning_rate / base_model.learning_rate,
        "compute_multiplier": resolved.group_size / DEFAULT_ROLLOUTS_PER_EXAMPLE,
        "eval_interval": resolved.eval_interval,
        "eval_samples": resolved.eval_samples,
    }
    automatic = {key: number for key, number in numbers.items() if sent.get(key, "auto") == "auto"}
    reinforcement["hyperparameters"] = {**sent, **automatic}
    reinforcement["max_episode_steps"] = resolved.max_episode_steps
    reinforcement.update(shown_learning(reinforcement, base_model))
    reinforcement.update(shown_end(reinforcement, ReinforcementStopOptions))
    reinforcement["mode"] = shown_mode(reinforcement.get("mode"), batch_size=resolved.batch_size)
    return {**method, "reinforcement": reinforcement}


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Among the waiting jobs of the whole installation."""

    position: int
    """1 is next."""
    estimated_start: int | None
    """Unix seconds; `None` where the running jobs do not tell."""


@dataclass(frozen=True, slots=True)
class JobError:
    code: str | None
    message: str | None
    param: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job row in domain words. Headers of tools and grader are not in it (see `secrets`)."""

    id: str
    organization_id: str
    project_id: str
    model: str
    status: JobStatus
    training_file: str
    validation_file: str | None
    seed: int
    suffix: str | None = None
    method: dict[str, Any]
    """`{"type": "reinforcement", "reinforcement": {…}}`, fully resolved, header values redacted; so
    for the other methods, under their own names."""
    metadata: dict[str, str] | None = None
    integrations: list[dict[str, Any]] = field(default_factory=list)
    error: JobError | None = None
    created_at: int
    started_at: int | None = None
    finished_at: int | None = None
    estimated_finish: int | None = None
    fine_tuned_model: str | None = None
    trained_tokens: int | None = None
    result_files: list[str] = field(default_factory=list)
    stop_request: StopRequest | None = None
    step: int = 0
    """Last committed step; 0 before the first."""
    total_steps: int | None = None
    fence: int = 0
    attempts: int = 0
    key_id: str
    caps: Caps = NO_CAPS
    usage: Usage | None = None
    """Of all committed work; `None` before there is any."""
    ended_early: dict[str, Any] | None = None
    """The rule that ended the job before its last step: `{rule, action, step, reason}`."""
    queue: QueuePlace | None = None
    """Where a job that nobody holds waits; looked up for what is shown, `None` otherwise."""


@dataclass(frozen=True, slots=True)
class JobEvent:
    id: str
    job_id: str
    created_at: int
    level: Literal["info", "warn", "error"]
    type: Literal["message", "metrics"]
    message: str
    data: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    id: str
    job_id: str
    step: int
    created_at: int
    model_name: str
    metrics: dict[str, float]
