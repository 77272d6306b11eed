"""A fine-tuning job: its states, its options, its progress and its events.

Source: the hosted API's `FineTuningJob`.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from app.domain.faults.no_effect import NoEffect
from app.domain.faults.unknown_keys import UnreadKey
from app.domain.graders.choice.choice import GraderChoice
from app.domain.jobs.attached_evals import AttachedEval
from app.domain.jobs.usage import NO_CAPS, Caps, Usage
from app.domain.methods.method_documents import StoredMethod
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, SupervisedMethod

RUN_TASK = "agent_rft.run_job"
SWEEP_TASK = "agent_rft.sweep"
EXPIRE_TASK = "agent_rft.expire"
RUNS_QUEUE = "runs"
CONTROL_QUEUE = "control"

EventLevel = Literal["info", "warn", "error"]
EventKind = Literal["message", "metrics"]


class JobStatus(StrEnum):
    """State of a job; `succeeded`, `failed` and `cancelled` are final."""

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
ENDED: Final = tuple(sorted(status.value for status in TERMINAL))
"""The terminal states as stored in rows."""


OPEN_JOBS: Final = (
    JobStatus.VALIDATING_FILES,
    JobStatus.QUEUED,
    JobStatus.RUNNING,
    JobStatus.PAUSING,
)
"""States in which a worker may work on the job."""


FILES_VALIDATED: Final = "Files validated, moving job to queued state"


def may_become(current: JobStatus, following: JobStatus) -> bool:
    return following in TRANSITIONS[current]


class StopRequest(StrEnum):
    """A user's request to a running job, read at each heartbeat."""

    CANCEL = "cancel"
    PAUSE = "pause"


TuningMethod = ReinforcementMethod | SupervisedMethod | DpoMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """The parts of a create call that are the same before and after its references are resolved."""

    model: str
    seed: int | None = None
    suffix: str | None = None
    metadata: dict[str, str] | None = None
    integrations: list[dict[str, Any]] = field(default_factory=list)
    evals: list[AttachedEval] = field(default_factory=list)
    caps: Caps = NO_CAPS
    priority: int = 0
    """Jobs of the project with a higher one start first."""
    unread: tuple[UnreadKey, ...] = ()
    """Keys outside the method's own object that nothing reads."""
    overridden: tuple[NoEffect, ...] = ()
    """Deprecated hyperparameters of the call that have another value inside the method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob(JobOptions):
    """A create call as a domain value, before any look-up."""

    training_file: str
    validation_file: str | None
    """`None` is possible for other methods than reinforcement only."""
    method: TuningMethod
    grader_choice: GraderChoice | None = None
    """The choice of a call whose grader is `auto`."""


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """Position among the waiting jobs of the whole installation."""

    position: int
    """1 is next."""
    estimated_start: int | None
    """Unix seconds; `None` without an estimate for the running jobs."""


@dataclass(frozen=True, slots=True)
class JobError:
    code: str | None
    message: str | None
    param: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job row as a domain value, without headers of tools and grader (see `secrets`)."""

    id: str
    organization_id: str
    project_id: str
    model: str
    status: JobStatus
    training_file: str
    validation_file: str | None
    seed: int
    suffix: str | None = None
    method: StoredMethod
    """The method with redacted headers; resolved once the files are validated."""
    metadata: dict[str, str] | None = None
    integrations: list[dict[str, Any]] = field(default_factory=list)
    evals: list[AttachedEval] = field(default_factory=list)
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
    priority: int = 0
    usage: Usage | None = None
    """Usage of all committed work; `None` before there is any."""
    ended_early: dict[str, Any] | None = None
    """The rule that ended the job before its last step: `{rule, action, step, reason}`."""
    reproducibility: dict[str, Any] | None = None
    """The record of being the same to the bit: `{same_to_the_bit, reasons, processors}`; `None`
    before a worker has begun.
    """
    queue: QueuePosition | None = None
    """Position of a job that waits for a worker; looked up for replies, `None` otherwise."""


def validating_message(job: Job) -> str:
    message = f"Validating training file: {job.training_file}"
    if job.validation_file is not None:
        message += f" and validation file: {job.validation_file}"
    return message


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """The last committed step with the object keys of its files, from which a claim continues."""

    step: int
    """0 before the first."""
    state_key: str | None
    """Object key of the trainer's state; `None` before the first step."""
    adapter_key: str | None


@dataclass(frozen=True, slots=True)
class JobEvent:
    id: str
    job_id: str
    created_at: int
    level: EventLevel
    type: EventKind
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
