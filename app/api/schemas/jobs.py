"""Jobs on the wire. Source: the hosted API's `CreateFineTuningJobRequest` and `FineTuningJob`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from app.api.schemas.common import Json
from app.api.schemas.integrations import WandbIntegration
from app.api.schemas.parameters import first_fault, missing
from app.api.schemas.tuning_methods import CapsBody, Method, read_caps, read_method
from app.domain.evals.evals import eval_id_of
from app.domain.jobs.jobs import Job, JobStatus
from app.domain.jobs.requests import JobRequest
from app.domain.methods.kinds import METHOD_MODELS, method_parameters
from app.domain.methods.stored import (
    StoredDpo,
    StoredMethod,
    StoredReinforcement,
    StoredSupervised,
)
from app.domain.methods.supervised import MethodType
from app.domain.registry.references import CurriculumSource, read_curriculum
from app.domain.secrets.walk import WalkedField, walk_fields
from app.domain.unknown_keys import UnreadKey, refused, unread

Text = Annotated[str, StringConstraints(min_length=1, max_length=256)]
MetadataKey = Annotated[str, StringConstraints(max_length=64)]
MetadataValue = Annotated[str, StringConstraints(max_length=512)]


class CreateFineTuningJob(CapsBody):
    """Body of `POST /v1/fine_tuning/jobs`."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "model": "tiny-agent",
                "training_file": "file-abc",
                "validation_file": "file-def",
                "method": {
                    "type": "reinforcement",
                    "reinforcement": {
                        "tools": [{"name": "search", "server_url": "https://t.example/search"}],
                        "grader": {"type": "endpoint", "url": "https://g.example/grade"},
                        "max_episode_steps": 10,
                        "hyperparameters": {"n_epochs": 1, "batch_size": 16},
                    },
                },
            }
        },
    )

    model: Text
    training_file: Text | None = None
    """Id of a file; required without a curriculum."""
    validation_file: Text | None = None
    curriculum: Text | Json | None = None
    """Replaces the files (an extension): an id, `{"id", "version"}`, or rows as `{"training",
    "validation"}`."""
    method: Method | None = None
    """An absent method is supervised."""
    hyperparameters: Json | None = None
    """Deprecated: hyperparameters of a supervised job. `method.supervised` takes precedence."""
    suffix: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    seed: Annotated[int, Field(ge=0, le=2147483647, strict=True)] | None = None
    metadata: Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)] | None = None
    integrations: Annotated[list[WandbIntegration], Field(max_length=5)] | None = None
    priority: Annotated[int, Field(ge=-100, le=100, strict=True)] | None = None
    """Jobs of the project with a higher priority start first (an extension; default 0). It has no
    effect on other projects."""

    def to_spec(self) -> JobRequest:
        """Raises `InvalidRequest` with the parameter at fault."""
        if self.training_file is None and self.curriculum is None:
            raise missing("training_file")
        request = JobRequest(
            model=self.model,
            unread=read_unknown(self),
            training_file=self.training_file,
            validation_file=self.validation_file,
            curriculum=_read_curriculum(self.curriculum),
            method=read_method(self.method, self.hyperparameters),
            seed=self.seed,
            suffix=self.suffix,
            metadata=self.metadata,
            integrations=[integration.kept() for integration in self.integrations or []],
            caps=read_caps(self.method, self.to_caps()),
            priority=self.priority or 0,
        )
        request.check_files()
        return request


def call_fields(body: CreateFineTuningJob | Json) -> tuple[list[WalkedField], Mapping[str, str]]:
    """Returns the fields of a call outside its method's own object, which the domain reads, and
    the parameters that a key may have been meant for. JSON may be wrong in any way.
    """
    kind = _method_type(body)
    names = {name: name for name in CreateFineTuningJob.model_fields}
    return list(walk_fields(CreateFineTuningJob, body)), {**names, **method_parameters(kind)}


def read_unknown(body: CreateFineTuningJob) -> tuple[UnreadKey, ...]:
    """The unknown keys that are accepted. Raises `InvalidRequest` for the first refused one."""
    walked, elsewhere = call_fields(body)
    for field in walked:
        if (fault := refused(field, "", elsewhere)) is not None:
            raise fault
    return tuple(unread(walked, "", elsewhere))


def _method_type(body: CreateFineTuningJob | Json) -> MethodType:
    method = body.method if isinstance(body, CreateFineTuningJob) else body.get("method")
    sent = method.get("type") if isinstance(method, dict) else getattr(method, "type", None)
    return next((kind for kind in METHOD_MODELS if kind == sent), "supervised")


def _read_curriculum(sent: str | Json | None) -> CurriculumSource | None:
    if sent is None:
        return None
    try:
        return read_curriculum(sent)
    except ValidationError as error:
        raise first_fault("curriculum", error) from error


class ResumeFineTuningJob(CapsBody):
    """Optional body of `POST …/resume`. Caps that are absent or null do not change."""


class JobErrorBody(BaseModel):
    code: str | None
    message: str | None
    param: str | None


class UsageMetrics(BaseModel):
    """Usage of the job up to its last committed step. Times in seconds."""

    training_time_s: float
    """Wall time of the run; the basis of `max_training_time_s` and of the price."""
    sampling_time_s: float
    update_time_s: float
    evaluation_time_s: float
    rollouts: int
    """Rollouts of training and validation; `max_rollouts` limits them."""
    prompt_tokens: int
    completion_tokens: int
    tool_calls: int
    trained_tokens: int
    gpu_seconds: float
    estimated_cost: float | None
    """Cost in `currency`; null while the operator has set no price."""
    currency: str | None
    model_graders: dict[str, dict[str, float]]
    """Tokens that model graders used, by model."""


class Reproducibility(BaseModel):
    """The machines that a job ran on, and if they keep the promise of mode `sync`."""

    same_to_the_bit: bool
    """True if a run of the same job, killed and resumed at any moment, ends with the same bits on
    these processors.
    """
    reasons: list[str]
    """The reasons against it; empty if it is kept."""
    processors: list[str]
    """Processors and libraries of the trainer and the engine, over all claims of the job."""


class FineTuningJob(BaseModel):
    """The hosted job object; every key is always present."""

    id: str
    object: Literal["fine_tuning.job"] = "fine_tuning.job"
    created_at: int
    model: str
    fine_tuned_model: str | None
    finished_at: int | None
    organization_id: str
    result_files: list[str]
    status: JobStatus
    trained_tokens: int | None
    training_file: str
    validation_file: str | None
    hyperparameters: Json | None
    seed: int
    error: JobErrorBody | Json
    estimated_finish: int | None
    integrations: list[Json]
    method: Json
    metadata: dict[str, str] | None
    user_provided_suffix: str | None
    usage_metrics: UsageMetrics | None
    shared_with_openai: bool = False
    step: int
    """Last committed step (an extension)."""
    eval_id: str | None
    """The eval whose runs are the job's validations."""
    total_steps: int | None
    """Number of steps, known once the files are validated (an extension)."""
    ended_early: Json | None
    """`{rule, action, step, reason}` of the rule that ended the job early (an extension)."""
    reproducibility: Reproducibility | None
    """Says if the job is the same to the bit; known once a worker has begun (an extension)."""
    max_training_time_s: float | None
    """Cap (an extension): the job pauses at the step that reaches it."""
    max_rollouts: int | None
    priority: int
    """Jobs of the project with a higher priority start first (an extension)."""
    queue_position: int | None
    """Position in the queue of jobs that wait for a worker; 1 is next (an extension)."""
    estimated_start: int | None
    """Unix seconds at which a worker should be free, if running jobs have an estimate."""

    @classmethod
    def of(cls, job: Job) -> "FineTuningJob":
        error, field = job.error, job.queue
        return cls(
            id=job.id,
            created_at=job.created_at,
            model=job.model,
            fine_tuned_model=job.fine_tuned_model,
            finished_at=job.finished_at,
            organization_id=job.organization_id,
            result_files=job.result_files,
            status=job.status,
            trained_tokens=job.trained_tokens,
            training_file=job.training_file,
            validation_file=job.validation_file,
            hyperparameters=_supervised_hyperparameters(job.method),
            seed=job.seed,
            error={}
            if error is None
            else JobErrorBody(code=error.code, message=error.message, param=error.param),
            estimated_finish=job.estimated_finish,
            integrations=job.integrations,
            method=_with_caps(job),
            metadata=job.metadata,
            user_provided_suffix=job.suffix,
            usage_metrics=None if job.usage is None else UsageMetrics(**job.usage.to_json()),
            step=job.step,
            eval_id=_eval_id(job),
            total_steps=job.total_steps,
            ended_early=job.ended_early,
            reproducibility=None
            if job.reproducibility is None
            else Reproducibility(**job.reproducibility),
            max_training_time_s=job.caps.max_training_time_s,
            max_rollouts=job.caps.max_rollouts,
            priority=job.priority,
            queue_position=None if field is None else field.position,
            estimated_start=None if field is None else field.estimated_start,
        )


def _eval_id(job: Job) -> str | None:
    match job.method:
        case StoredReinforcement():
            return eval_id_of(job.id)
        case StoredSupervised() | StoredDpo():
            return None
        case _:
            assert_never(job.method)


def _supervised_hyperparameters(method: StoredMethod) -> dict[str, Any] | None:
    match method:
        case StoredSupervised():
            shown: dict[str, Any] = method.options["hyperparameters"]
            return shown
        case StoredReinforcement() | StoredDpo():
            return None
        case _:
            assert_never(method)


def _with_caps(job: Job) -> dict[str, Any]:
    """Returns the method with the current values of the caps that were sent inside it."""
    match job.method:
        case StoredReinforcement():
            options = job.method.options
            now = {
                "max_training_time_s": job.caps.max_training_time_s,
                "max_rollouts": job.caps.max_rollouts,
            }
            shown = {name: value for name, value in now.items() if name in options}
            return job.method.with_options({**options, **shown}).document
        case StoredSupervised() | StoredDpo():
            return job.method.document
        case _:
            assert_never(job.method)
