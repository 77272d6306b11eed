"""Jobs, create calls, states, caps, usage, events and checkpoints as domain values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final, Literal, assert_never

from app.graders.choice import GraderChoice
from app.jobs.methods import StoredMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.errors import InvalidRequest, NoEffect, missing_parameter
from app.kit.faults import UnreadKey
from app.rollouts.metrics import MetricPoint
from app.tools.environments import PARAM, BuiltIn, built_in
from app.tools.references import (
    InlineCurriculum,
    RegisteredReference,
    ReinforcementBody,
    SentCurriculum,
)


@dataclass(frozen=True, slots=True)
class Usage:
    training_time_s: float = 0.0
    """Wall time of the run: from a claim or commit to the next commit, including all work. The cap
    of the same name limits it, and the price is per hour of it.
    """
    sampling_time_s: float = 0.0
    """Part of the time: training rollouts with their tools and graders."""
    update_time_s: float = 0.0
    """Part of the time: the optimizer."""
    evaluation_time_s: float = 0.0
    """Part of the time: validations, the base model's included."""
    rollouts: int = 0
    """Training and validation rollouts, discarded ones included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: int = 0
    grader_calls: int = 0
    """Scores of graders; each child of a `multi` grader counts."""
    trained_tokens: int = 0
    gpu_seconds: float = 0.0
    """`training_time_s` × accelerators of the trainer; 0 on a machine without one."""
    estimated_cost: float | None = None
    """Cost in `currency`; `None` while the operator has set no price."""
    currency: str | None = None
    model_graders: dict[str, dict[str, float]] = field(default_factory=dict)

    def plus(self, other: "Usage") -> "Usage":
        amounts = {
            name: getattr(self, name) + getattr(other, name)
            for name in (field.name for field in fields(self))
            if name not in ("estimated_cost", "currency", "model_graders")
        }
        return Usage(
            **amounts,
            estimated_cost=_sum(self.estimated_cost, other.estimated_cost),
            currency=other.currency or self.currency,
            model_graders=_merged(self.model_graders, other.model_graders),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Usage":
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in stored.items() if name in known})


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is second is None else (first or 0.0) + (second or 0.0)


def _merged(
    first: dict[str, dict[str, float]], second: dict[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    merged = {model: dict(tokens) for model, tokens in first.items()}
    for model, tokens in second.items():
        target = merged.setdefault(model, {})
        for kind, count in tokens.items():
            target[kind] = target.get(kind, 0.0) + count
    return merged


@dataclass(frozen=True, slots=True)
class ReachedCap:
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits at which a job pauses; `None` sets no cap."""

    max_training_time_s: float | None = None
    max_rollouts: int | None = None

    def reached(self, usage: Usage | None) -> "ReachedCap | None":
        """Returns the cap that prevents another step; `None` if there is none."""
        if usage is None:
            return None
        if self.max_rollouts is not None and usage.rollouts >= self.max_rollouts:
            reason = f"max_rollouts of {self.max_rollouts:,} is reached ({usage.rollouts:,} used)"
            return ReachedCap("max_rollouts", reason)
        limit = self.max_training_time_s
        if limit is not None and usage.training_time_s >= limit:
            used = f"{usage.training_time_s:,.1f} used"
            reason = f"max_training_time_s of {limit:,g} is reached ({used})"
            return ReachedCap("max_training_time_s", reason)
        return None

    def raised(self, other: "Caps") -> "Caps":
        return Caps(
            self.max_training_time_s
            if other.max_training_time_s is None
            else other.max_training_time_s,
            self.max_rollouts if other.max_rollouts is None else other.max_rollouts,
        )


NO_CAPS: Final = Caps()


EVALS: Final = "evals"
MAX_ATTACHED: Final = 4


@dataclass(frozen=True, slots=True)
class AttachedEval:
    eval_id: str
    data_source: dict[str, Any]
    start_run_id: str | None = None
    """The run that samples the model at the start; `None` before the job has succeeded."""
    tuned_run_id: str | None = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def started(self, *, start: str, tuned: str) -> "AttachedEval":
        return replace(self, start_run_id=start, tuned_run_id=tuned)

    def without_runs(self) -> "AttachedEval":
        reason = f"Eval {self.eval_id} was deleted before the job succeeded, so it has no runs."
        return replace(self, error=reason)


def read_attached(stored: list[dict[str, Any]]) -> list[AttachedEval]:
    return [AttachedEval(**each) for each in stored]


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


_UNBEGUN: Final = frozenset({JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.PAUSED})
_BEGUN: Final = _UNBEGUN | {JobStatus.SUCCEEDED, JobStatus.QUEUED}
TRANSITIONS: dict[JobStatus, frozenset[JobStatus]] = {
    JobStatus.VALIDATING_FILES: _UNBEGUN | {JobStatus.QUEUED},
    JobStatus.QUEUED: _UNBEGUN | {JobStatus.RUNNING},
    JobStatus.RUNNING: _BEGUN | {JobStatus.PAUSING},
    JobStatus.PAUSING: _BEGUN,
    JobStatus.PAUSED: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
    JobStatus.SUCCEEDED: frozenset(),
    JobStatus.FAILED: frozenset(),
    JobStatus.CANCELLED: frozenset(),
}

TERMINAL = frozenset(status for status, following in TRANSITIONS.items() if not following)
ENDED: Final = tuple(sorted(status.value for status in TERMINAL))


OPEN_JOBS: Final = (
    JobStatus.VALIDATING_FILES,
    JobStatus.QUEUED,
    JobStatus.RUNNING,
    JobStatus.PAUSING,
)


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
    unread: tuple[UnreadKey, ...] = ()
    overridden: tuple[NoEffect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob(JobOptions):
    """A create call after its look-ups: files have ids, references are definitions."""

    training_file: str
    validation_file: str | None
    """`None` is possible for other methods than reinforcement only."""
    method: TuningMethod
    grader_choice: GraderChoice | None = None


@dataclass(frozen=True, slots=True)
class QueuePosition:
    position: int
    """1 is next."""
    estimated_start: int | None
    """Unix seconds; `None` without an estimate for the running jobs."""


@dataclass(frozen=True, slots=True)
class JobError:
    code: str | None
    message: str | None
    param: str | None


Verdict = Literal["gain", "no_clear_gain", "loss", "not_measured"]
"""What the report of a job says of its gain: a `gain` or `loss` has an interval without 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
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
    total_steps: int | None = None
    fence: int = 0
    attempts: int = 0
    key_id: str
    caps: Caps = NO_CAPS
    priority: int = 0
    usage: Usage | None = None
    ended_early: dict[str, Any] | None = None
    """The rule that ended the job before its last step: `{rule, action, step, reason}`."""
    verdict: Verdict | None = None
    """`None` before the job has succeeded."""
    reproducibility: dict[str, Any] | None = None
    """`{same_to_the_bit, reasons, processors}`; `None` before a worker has begun."""
    queue: QueuePosition | None = None


def validating_message(job: Job) -> str:
    message = f"Validating training file: {job.training_file}"
    if job.validation_file is not None:
        message += f" and validation file: {job.validation_file}"
    return message


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """The last committed step with the object keys of its files, from which a claim continues."""

    step: int
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


@dataclass(frozen=True, slots=True)
class StatusCount:
    status: JobStatus
    jobs: int
    oldest_s: float


LAST_EVENT_ID: Final = "Last-Event-ID"
"""The header with the last received event, which a browser sends when it reconnects."""


@dataclass(frozen=True, slots=True)
class StreamedEvent:
    position: int
    event: JobEvent
    points: Sequence[MetricPoint] = ()


@dataclass(frozen=True, slots=True)
class JobHead:
    status: JobStatus
    step: int
    estimated_finish: int | None
    newest: int


@dataclass(frozen=True, slots=True)
class IdleHeartbeat:
    """No event arrived during a heartbeat interval."""


StreamItem = StreamedEvent | Job | IdleHeartbeat


def step_of(event: JobEvent) -> int | None:
    """Returns the step whose points were committed with the event; `None` if there are none."""
    step = (event.data or {}).get("step")
    return step if isinstance(step, int) else None


CURRICULUM: Final = "curriculum"
RequestedMethod = SupervisedMethod | DpoMethod | ReinforcementBody


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest(JobOptions):
    """A create call as a domain value, before any look-up."""

    training_file: str | None
    validation_file: str | None
    curriculum: SentCurriculum | None = None
    method: RequestedMethod

    def check_files(self) -> None:
        if self.environment is not None:
            self._check_environment_alone()
            return
        match self.curriculum:
            case None:
                self.required_files(self.training_file, self.validation_file)
                return
            case InlineCurriculum(validation=rows):
                validation = CURRICULUM if rows else None
            case RegisteredReference():
                validation = CURRICULUM  # its files are known once it is resolved
            case _:
                assert_never(self.curriculum)
        for name in ("training_file", "validation_file"):
            if getattr(self, name) is not None:
                raise InvalidRequest(
                    f"Send 'curriculum' or '{name}', not both.",
                    param=CURRICULUM,
                    code="invalid_value",
                )
        self.required_files(CURRICULUM, validation)

    def required_files(self, training: str | None, validation: str | None) -> str:
        try:
            return required_files(self.method, training, validation)
        except InvalidRequest as fault:
            if self.curriculum is None:
                raise
            split = str(fault.param).removesuffix("_file")
            param, cure = CURRICULUM, "send one that has them"
            if isinstance(self.curriculum, InlineCurriculum):
                param = f"{CURRICULUM}.{split}"
                cure = f"send '{param}'"
            raise InvalidRequest(
                f"The curriculum has no {split} rows, which the job needs: {cure}.",
                param=param,
                code="missing_required_parameter",
            ) from None

    @property
    def environment(self) -> BuiltIn | None:
        method = self.method
        return built_in(method.environment) if isinstance(method, ReinforcementBody) else None

    def _check_environment_alone(self) -> None:
        for name in ("training_file", "validation_file", CURRICULUM):
            if getattr(self, name) is not None:
                raise InvalidRequest(
                    f"The tasks come from '{PARAM}': send '{name}' or an environment, not both.",
                    param=name,
                    code="invalid_value",
                )

    def with_files(self, body: dict[str, Any]) -> "JobRequest":
        if self.curriculum is None and self.environment is None:
            return self
        return replace(
            self,
            curriculum=None,
            training_file=body.get("training_file"),
            validation_file=body.get("validation_file"),
        )

    def with_grader(self, choice: GraderChoice | None) -> "JobRequest":
        if choice is None or not isinstance(self.method, ReinforcementBody):
            return self
        method = self.method.model_copy(update={"grader": choice.read()})
        return replace(self, method=method)

    def resolved(
        self,
        method: TuningMethod,
        files: tuple[str | None, str | None],
        grader_choice: GraderChoice | None,
    ) -> NewJob:
        training, validation = files
        return NewJob(
            **{each.name: getattr(self, each.name) for each in fields(JobOptions)},
            training_file=self.required_files(training, validation),
            validation_file=validation,
            method=method,
            grader_choice=grader_choice,
        )


def required_files(method: RequestedMethod, training: str | None, validation: str | None) -> str:
    if training is None:
        raise missing_parameter("training_file")
    if validation is None and method.kind == "reinforcement":
        raise InvalidRequest(
            "A validation file is required for reinforcement fine-tuning.",
            param="validation_file",
            code="missing_required_parameter",
        )
    return training
