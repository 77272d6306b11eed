"""Jobs on the wire. Source: the hosted API's `CreateFineTuningJobRequest` and `FineTuningJob`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from app.api.schemas.common import Json, WireModel
from app.domain.errors import InvalidRequest
from app.domain.evals import eval_id_of
from app.domain.graders import NOT_AVAILABLE
from app.domain.jobs import Job, JobStatus, NewJob, ReinforcementMethod

Text = Annotated[str, StringConstraints(min_length=1, max_length=256)]
MetadataKey = Annotated[str, StringConstraints(max_length=64)]
MetadataValue = Annotated[str, StringConstraints(max_length=512)]
_PATH = "method.reinforcement"
_UNION_MEMBERS = ("constrained-", "literal[", "function-", "[key]")
_SHOWN_KEY = 80


class Method(WireModel):
    type: Literal["supervised", "dpo", "reinforcement"]
    reinforcement: Json | None = None
    supervised: Json | None = None
    dpo: Json | None = None


class CreateFineTuningJob(WireModel):
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
    """Required without a curriculum."""
    validation_file: Text | None = None
    curriculum: Text | Json | None = None
    """In place of the files (ours): an id, `{"id", "version"}`, or rows as `{"training",
    "validation"}`."""
    method: Method | None = None
    suffix: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    seed: Annotated[int, Field(ge=0, le=2147483647, strict=True)] | None = None
    metadata: Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)] | None = None
    integrations: Annotated[list[Json], Field(max_length=5)] | None = None

    def to_spec(self) -> NewJob:
        """Raises `InvalidRequest` naming the parameter at fault."""
        if self.training_file is None:
            raise InvalidRequest(
                "Missing required parameter: 'training_file'.",
                param="training_file",
                code="missing_required_parameter",
            )
        if self.method is None or self.method.type != "reinforcement":
            kind = "supervised" if self.method is None else self.method.type
            raise InvalidRequest(
                f"Method '{kind}' is not available for this base model.",
                param="method.type",
                code="method_not_available",
            )
        if self.validation_file is None:
            raise InvalidRequest(
                "A validation file is required for reinforcement fine-tuning.",
                param="validation_file",
                code="missing_required_parameter",
            )
        return NewJob(
            model=self.model,
            training_file=self.training_file,
            validation_file=self.validation_file,
            method=_reinforcement(self.method.reinforcement),
            seed=self.seed,
            suffix=self.suffix,
            metadata=self.metadata,
            integrations=self.integrations or [],
        )


def _reinforcement(sent: Json | None) -> ReinforcementMethod:
    if sent is None:
        raise InvalidRequest(
            f"Missing required parameter: '{_PATH}'.",
            param=_PATH,
            code="missing_required_parameter",
        )
    known = ReinforcementMethod.model_fields
    sent = {key: value for key, value in sent.items() if value is not None or key not in known}
    try:
        return ReinforcementMethod.model_validate(sent)
    except ValidationError as error:
        raise _first_fault(error) from error


def _first_fault(error: ValidationError) -> InvalidRequest:
    fault = error.errors(include_url=False, include_context=False)[0]
    param = dotted(_PATH, fault["loc"])
    if fault["type"] == "missing":
        return InvalidRequest(
            f"Missing required parameter: '{param}'.",
            param=param,
            code="missing_required_parameter",
        )
    code = fault["type"] if fault["type"] == NOT_AVAILABLE else "invalid_value"
    return InvalidRequest(f"Invalid value for '{param}': {fault['msg']}.", param=param, code=code)


def dotted(root: str, location: tuple[int | str, ...]) -> str:
    """`("tools", 0, "server_url")` as `root.tools[0].server_url`.

    pydantic ends the location of a union with the name of the member it tried, and that of a wrong
    key with a mark; neither is a key. A key that a client made endless is cut.
    """
    if len(location) > 1 and str(location[-1]).startswith(_UNION_MEMBERS):
        location = location[:-1]
    path = root
    for part in location:
        name = part if isinstance(part, int) else part[:_SHOWN_KEY]
        path += f"[{name}]" if isinstance(part, int) else f".{name}" if path else str(name)
    return path


class JobErrorBody(BaseModel):
    code: str | None
    message: str | None
    param: str | None


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
    usage_metrics: Json | None = None
    shared_with_openai: bool = False
    step: int
    """Last committed step (an addition of ours)."""
    eval_id: str | None
    """The eval whose runs are the job's validations."""
    total_steps: int | None
    """Steps the job will take, once its files are validated (an addition of ours)."""

    @classmethod
    def of(cls, job: Job) -> "FineTuningJob":
        error: JobErrorBody | dict[str, Any] = {}
        if job.error is not None:
            error = JobErrorBody(
                code=job.error.code, message=job.error.message, param=job.error.param
            )
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
            hyperparameters=None,
            seed=job.seed,
            error=error,
            estimated_finish=job.estimated_finish,
            integrations=job.integrations,
            method=job.method,
            metadata=job.metadata,
            user_provided_suffix=job.suffix,
            step=job.step,
            eval_id=eval_id_of(job.id) if job.method.get("type") == "reinforcement" else None,
            total_steps=job.total_steps,
        )
