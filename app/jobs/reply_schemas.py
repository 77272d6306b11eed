"""Checkpoints on the wire. Source: the hosted API's `FineTuningJobCheckpoint`."""

from typing import Any, Literal, assert_never

from app.evals.evals import eval_id_of
from app.jobs.jobs import Checkpoint, EventKind, EventLevel, Job, JobEvent, JobStatus
from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.jobs.schemas import AttachedEvalObject
from app.kit.fields import DescribedModel, Json


class FineTuningJobCheckpoint(DescribedModel):
    """A checkpoint of a job: a model that can be called, with its metrics."""

    id: str
    object: Literal["fine_tuning.job.checkpoint"] = "fine_tuning.job.checkpoint"
    created_at: int
    fine_tuned_model_checkpoint: str
    """Name of the checkpoint's model, which chat, evals and new jobs take."""
    fine_tuning_job_id: str
    step_number: int
    """The committed step."""
    metrics: dict[str, float]
    """Values of the step, such as `full_valid_mean_reward`, by name; of the last step of a paused
    job that was not validated, only `step`.
    """

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "FineTuningJobCheckpoint":
        return cls(
            id=checkpoint.id,
            created_at=checkpoint.created_at,
            fine_tuned_model_checkpoint=checkpoint.model_name,
            fine_tuning_job_id=checkpoint.job_id,
            step_number=checkpoint.step,
            metrics={"step": float(checkpoint.step), **checkpoint.metrics},
        )


class FineTuningJobEvent(DescribedModel):
    """An event in the life of a job."""

    id: str
    object: Literal["fine_tuning.job.event"] = "fine_tuning.job.event"
    created_at: int
    level: EventLevel
    """`warn` and `error` need attention."""
    message: str
    """The event in a sentence."""
    type: EventKind
    """`metrics` has the values of a step in `data`."""
    data: Json | None
    """Values, codes and parameters of the event."""

    @classmethod
    def of(cls, event: JobEvent) -> "FineTuningJobEvent":
        return cls.read(event)


class JobErrorBody(DescribedModel):
    """Reason why a job failed; every field is null for a job that did not."""

    code: str | None
    """The error in a word that programs can compare."""
    message: str | None
    """The fault in a sentence, with its cure."""
    param: str | None
    """The parameter of the create call at fault."""


class UsageMetrics(DescribedModel):
    """Usage of the job up to its last committed step. Times in seconds."""

    training_time_s: float
    """Wall time of the run; the basis of `max_training_time_s` and of the price."""
    sampling_time_s: float
    """Part of it in which rollouts were played."""
    update_time_s: float
    """Part of it in which weights were trained."""
    evaluation_time_s: float
    """Part of it in which validations ran."""
    rollouts: int
    """Rollouts of training and validation; `max_rollouts` limits them."""
    prompt_tokens: int
    completion_tokens: int
    tool_calls: int
    """Calls of tools that were run."""
    grader_calls: int
    """Scores that graders gave; each child of a `multi` grader counts."""
    trained_tokens: int
    """Tokens with a weight in the loss."""
    gpu_seconds: float
    """Wall time multiplied by the accelerators that the trainer uses; 0 on a CPU."""
    estimated_cost: float | None
    """Cost in `currency`; null while the operator has set no price."""
    currency: str | None
    """Currency of `estimated_cost`."""
    model_graders: dict[str, dict[str, float]]
    """Tokens that model graders used, by model."""


class Reproducibility(DescribedModel):
    """The machines that a job ran on, and whether they keep the promise of mode `sync`."""

    same_to_the_bit: bool
    """True if a run of the same job, killed and resumed at any moment, ends with the same bits on
    these processors.
    """
    reasons: list[str]
    """The reasons against it; empty if it is kept."""
    processors: list[str]
    """Processors and libraries of the trainer and the engine, over all claims of the job."""


class FineTuningJob(DescribedModel):
    """A fine-tuning job; every key is always present."""

    id: str
    """Id of the job."""
    object: Literal["fine_tuning.job"] = "fine_tuning.job"
    created_at: int
    model: str
    """The base model, with its version, or the tuned model that the job starts from."""
    fine_tuned_model: str | None
    """Name of the published model, once the job has succeeded."""
    finished_at: int | None
    """Unix seconds of the job's end."""
    organization_id: str
    """Id of the organization."""
    result_files: list[str]
    """Ids of files with the points of all curves, once the job has ended."""
    status: JobStatus
    """State of the job."""
    trained_tokens: int | None
    """Tokens with a weight in the loss so far; `null` before the first step."""
    training_file: str
    """Id of the file with the training rows."""
    validation_file: str | None
    """Id of the file with the held-out rows."""
    hyperparameters: Json | None
    """Hyperparameters of a supervised job; `null` for others."""
    seed: int
    """Seed of sampling and training."""
    error: JobErrorBody | Json
    """Code, message and parameter of a job that failed; else empty."""
    estimated_finish: int | None
    """Unix seconds at which a running job should end."""
    integrations: list[Json]
    """As sent."""
    evals: list[AttachedEvalObject]
    """Attached evals, with their runs once the job has succeeded (an extension)."""
    method: Json
    """Method with every default and, once the files are validated, every `auto` replaced."""
    metadata: dict[str, str] | None
    user_provided_suffix: str | None
    """The suffix of the create call."""
    usage_metrics: UsageMetrics | None
    """Time, rollouts, tokens and cost so far; `null` before the first step."""
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
    """True if the job is the same to the bit, with reasons and processors; known once a worker has
    begun (an extension).
    """
    max_training_time_s: float | None
    """Cap (an extension): the job pauses at the step that reaches it."""
    max_rollouts: int | None
    """Cap (an extension): the job pauses at the step that reaches it."""
    priority: int
    """Jobs of the project with a higher priority start first (an extension)."""
    queue_position: int | None
    """Position in the queue of jobs that wait for a worker; 1 is next (an extension)."""
    estimated_start: int | None
    """Unix seconds at which a worker should be free, if running jobs have an estimate."""

    @classmethod
    def of(cls, job: Job) -> "FineTuningJob":
        error, queue = job.error, job.queue
        return cls.read(
            job,
            hyperparameters=_supervised_hyperparameters(job.method),
            error={}
            if error is None
            else JobErrorBody(code=error.code, message=error.message, param=error.param),
            evals=[AttachedEvalObject.of(each) for each in job.evals],
            method=_with_caps(job),
            user_provided_suffix=job.suffix,
            usage_metrics=None if job.usage is None else UsageMetrics(**job.usage.to_json()),
            eval_id=_eval_id(job),
            reproducibility=None
            if job.reproducibility is None
            else Reproducibility(**job.reproducibility),
            max_training_time_s=job.caps.max_training_time_s,
            max_rollouts=job.caps.max_rollouts,
            queue_position=None if queue is None else queue.position,
            estimated_start=None if queue is None else queue.estimated_start,
        )


def _eval_id(job: Job) -> str | None:
    match job.method:
        case StoredReinforcementMethod():
            return eval_id_of(job.id)
        case StoredSupervisedMethod() | StoredDpoMethod():
            return None
        case _:
            assert_never(job.method)


def _supervised_hyperparameters(method: StoredMethod) -> dict[str, Any] | None:
    match method:
        case StoredSupervisedMethod():
            shown: dict[str, Any] = method.options["hyperparameters"]
            return shown
        case StoredReinforcementMethod() | StoredDpoMethod():
            return None
        case _:
            assert_never(method)


def _with_caps(job: Job) -> dict[str, Any]:
    """Returns the method with the current values of the caps that were sent inside it."""
    match job.method:
        case StoredReinforcementMethod():
            options = job.method.options
            now = {
                "max_training_time_s": job.caps.max_training_time_s,
                "max_rollouts": job.caps.max_rollouts,
            }
            shown = {name: value for name, value in now.items() if name in options}
            return job.method.with_options({**options, **shown}).document
        case StoredSupervisedMethod() | StoredDpoMethod():
            return job.method.document
        case _:
            assert_never(job.method)
