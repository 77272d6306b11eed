"""Attached evals of a job on the wire; an extension of this project."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, StringConstraints, ValidationError

from app.evals.data_source_faults import ROOT, data_source_faults
from app.evals.data_sources import AttachedSource
from app.evals.schemas import fault_of
from app.graders.templates import DefinitionWork
from app.jobs.integrations import Integration
from app.jobs.jobs import EVALS, MAX_ATTACHED, AttachedEval
from app.jobs.method_schemas import CapsBody, Method, read_caps, read_method
from app.jobs.methods import METHOD_MODELS, parameters_of
from app.jobs.requests import JobRequest
from app.jobs.supervised import MethodType
from app.jobs.warnings import overridden
from app.kit.errors import InvalidRequest, NoEffect, missing_parameter, moved_fault, refused_value
from app.kit.faults import KeyHints, UnreadKey, misnamed_key_error, unknown_key_error, unread
from app.kit.fields import DescribedModel, Json, WalkedField, value_of, walk_fields
from app.kit.schemas import Metadata, first_fault
from app.tools.environments import PARAM as ENVIRONMENT
from app.tools.references import SentCurriculum, plays_rows, read_curriculum, unknown_environment

_TAGGED: Final = frozenset({"input_messages"})


class AttachedEvalBody(DescribedModel):
    """An eval of the project that is run on the start model and the tuned model."""

    model_config = ConfigDict(extra="allow")

    eval_id: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    """Id of the eval."""
    data_source: Json
    """As of an eval run of type `completions` or `responses`, with the items in a file and without
    `model`."""

    def to_attached(self, position: int, *, model: str) -> AttachedEval:
        """Raises `InvalidRequest` with the parameter at fault. `model` is the job's."""
        root = f"{EVALS}[{position}].{ROOT}"
        if "model" in self.data_source:
            raise refused_value(f"{root}.model", "the job's own models are sampled; leave it out")
        if value_of(self.data_source.get("source"), "type") == "file_content":
            raise refused_value(
                f"{root}.source.type",
                "the items must be in a file; upload it with purpose 'evals' and send "
                '{"type": "file_id", "id": "file-…"}',
            )
        try:
            source = AttachedSource.model_validate(self.data_source, context=DefinitionWork())
        except ValidationError as error:
            raise fault_of(error, root, tagged=_TAGGED) from error
        for fault in data_source_faults(source.with_model(model), ()):
            raise moved_fault(fault, ROOT, root)
        return AttachedEval(self.eval_id, self.data_source)


class AttachedEvalObject(DescribedModel):
    """An attached eval of a job, with its runs."""

    eval_id: str
    data_source: Json
    """As sent."""
    start_run_id: str | None
    """The run on the model that training started from; `null` before the job has succeeded."""
    tuned_run_id: str | None
    """The run on the tuned model; `null` before the job has succeeded."""
    error: str | None
    """The reason why a job that has succeeded started no run."""

    @classmethod
    def of(cls, attached: AttachedEval) -> "AttachedEvalObject":
        return cls.read(attached)


Text = Annotated[str, StringConstraints(min_length=1, max_length=256)]
_TASKS: Final = ("curriculum", ENVIRONMENT)
"""Parameters that replace files."""
_NEEDED: Final = ("training_file", "validation_file", "method.reinforcement.grader")
"""Parameters that a call with an environment needs not send."""


class CreateFineTuningJob(CapsBody):
    """A new fine-tuning job."""

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
    """Name of a base model, or of a tuned model (`ft:…`) to continue from."""
    training_file: Text | None = None
    """Id of a file; required without a curriculum and without an environment."""
    validation_file: Text | None = None
    """Id of a file with held-out rows; required by reinforcement without a curriculum and
    without an environment."""
    curriculum: Text | Json | None = None
    """Replaces the files (an extension): an id, `{"id", "version"}`, or rows as `{"training",
    "validation"}`."""
    method: Method | None = None
    """An absent method is supervised."""
    hyperparameters: Json | None = None
    """Deprecated: hyperparameters of a supervised job. `method.supervised` takes precedence."""
    suffix: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Part of the tuned model's name."""
    seed: Annotated[int, Field(ge=0, le=2147483647, strict=True)] | None = None
    """Seed of sampling and training; absent: chosen by the service and shown in the job."""
    metadata: Metadata | None = None
    integrations: Annotated[list[Integration], Field(max_length=5)] | None = None
    """Trackers of experiments, to which the service writes curves, settings, report and some
    rollouts: `wandb` in the hosted shape; `tensorboard`, `mlflow` and `trackio` are extensions."""
    evals: Annotated[list[AttachedEvalBody], Field(max_length=MAX_ATTACHED)] | None = None
    """Evals that are run on the start model and the tuned model once the job has succeeded (an
    extension)."""
    priority: Annotated[int, Field(ge=-100, le=100, strict=True)] | None = None
    """Jobs of the project with a higher priority start first (an extension; default 0). It has no
    effect on other projects."""

    def to_spec(self) -> JobRequest:
        """Raises `InvalidRequest` with the parameter at fault. If an unknown key was probably meant
        for a missing parameter, the error names that key.
        """
        try:
            return self._request()
        except InvalidRequest as fault:
            instead = _sent_elsewhere(self, fault)
            if instead is None:
                raise
            raise instead from fault

    def _request(self) -> JobRequest:
        if self.training_file is self.curriculum is None and not _names_environment(self.method):
            raise _no_tasks(self.method)
        request = JobRequest(
            model=self.model,
            unread=read_unknown(self),
            overridden=tuple(self._overridden()),
            training_file=self.training_file,
            validation_file=self.validation_file,
            curriculum=_read_curriculum(self.curriculum),
            method=read_method(self.method, self.hyperparameters),
            seed=self.seed,
            suffix=self.suffix,
            metadata=self.metadata,
            integrations=[integration.stored_document() for integration in self.integrations or []],
            evals=[
                each.to_attached(position, model=self.model)
                for position, each in enumerate(self.evals or [])
            ],
            caps=read_caps(self.method, self.to_caps()),
            priority=self.priority or 0,
        )
        request.check_files()
        return request

    def _overridden(self) -> Iterator[NoEffect]:
        supervised = None if self.method is None else self.method.supervised
        return overridden(self.hyperparameters, (supervised or {}).get("hyperparameters"))


def call_fields(body: CreateFineTuningJob | Json) -> tuple[list[WalkedField], KeyHints]:
    """Returns the fields of a call outside its method's object, and the parameters for which a
    misspelt key may have been meant. The JSON may be invalid in any way.
    """
    kind = _method_type(body)
    return list(walk_fields(CreateFineTuningJob, body)), parameters_of(
        kind, _method_object(body, kind)
    )


def _method_object(body: CreateFineTuningJob | Json, kind: MethodType | None) -> Any:
    """Returns the settings of the method that the call names."""
    method = body.method if isinstance(body, CreateFineTuningJob) else body.get("method")
    if kind is None:
        return None
    return value_of(method, kind)


def read_unknown(body: CreateFineTuningJob) -> tuple[UnreadKey, ...]:
    """Returns the unknown keys that are accepted. Raises `InvalidRequest` for the first refused
    one.
    """
    walked, elsewhere = call_fields(body)
    for field in walked:
        if (fault := unknown_key_error(field, "", elsewhere)) is not None:
            raise fault
    return tuple(unread(walked, "", elsewhere))


def _sent_elsewhere(body: CreateFineTuningJob, fault: InvalidRequest) -> InvalidRequest | None:
    """Returns the error for the unknown key that was probably meant for the missing parameter of a
    fault.
    """
    if fault.code != "missing_required_parameter":
        return None
    missing_ones = {str(fault.param), *_TASKS} if fault.param in _NEEDED else {str(fault.param)}
    walked, elsewhere = call_fields(body)
    kind = _method_type(body)
    sent = _method_object(body, kind)
    if kind is not None and sent is not None:
        found = misnamed_key_error(
            walk_fields(METHOD_MODELS[kind], sent),
            f"method.{kind}",
            elsewhere,
            missing_ones,
        )
        if found is not None:
            return found
    return misnamed_key_error(walked, "", elsewhere, missing_ones)


def _method_type(body: CreateFineTuningJob | Json) -> MethodType | None:
    """Returns the method that the call names, `None` if it names none."""
    method = body.method if isinstance(body, CreateFineTuningJob) else body.get("method")
    sent = value_of(method, "type")
    return next((kind for kind in METHOD_MODELS if kind == sent), None)


def _names_environment(method: Method | None) -> bool:
    """Returns whether the tasks come from an environment, valid or not. A registered environment,
    and one of type `http`, plays the rows of files instead.
    """
    sent = None if method is None else method.reinforcement
    environment = None if sent is None else sent.get("environment")
    return environment is not None and not plays_rows(environment)


def _no_tasks(method: Method | None) -> InvalidRequest:
    """Returns the error for a call without files: about the name of its environment, if that is
    probably misspelt.
    """
    sent = None if method is None else method.reinforcement
    unknown = unknown_environment(None if sent is None else sent.get("environment"))
    return unknown or missing_parameter("training_file")


def _read_curriculum(sent: str | Json | None) -> SentCurriculum | None:
    if sent is None:
        return None
    try:
        return read_curriculum(sent)
    except ValidationError as error:
        raise first_fault("curriculum", error) from error


class ResumeFineTuningJob(CapsBody):
    """New caps of a paused job; those that are absent or null do not change."""
