"""A create call on the wire, how it is read, and the report on one that is not made.

A method is read as any JSON object and validated by the domain, so that unknown keys are named and
each fault is reported with its path.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Annotated, Any, Final, Literal, TypeVar, assert_never

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import definition_reference_schema, definitions_schema

from app.evals.data_sources import ROOT, AttachedSource, data_source_faults
from app.evals.schemas import fault_of
from app.files.datasets import Overlap
from app.graders.choice import GraderChoice
from app.graders.templates import DefinitionWork
from app.jobs.integrations import Integration, stored_document
from app.jobs.jobs import EVALS, MAX_ATTACHED, AttachedEval, Caps, JobRequest, RequestedMethod
from app.jobs.method_faults import overridden
from app.jobs.methods import METHOD_MODELS, parameters_of
from app.jobs.preflight import (
    DatasetReport,
    EndpointCheck,
    Estimate,
    FileSummary,
    PreflightReport,
    issue_of,
)
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod, a_number
from app.kit.errors import (
    InvalidRequest,
    PreflightIssue,
    missing_parameter,
    moved_fault,
    refused_value,
)
from app.kit.faults import (
    NOWHERE,
    UNKNOWN_PARAMETER,
    KeyHints,
    UnreadKey,
    misnamed_key_error,
    unknown_key_error,
    unread,
)
from app.kit.fields import DescribedModel, FieldKind, Json, WalkedField, value_of, walk_fields
from app.kit.schemas import Metadata, WireModel, first_fault, refusals
from app.tools.environments import PARAM as ENVIRONMENT
from app.tools.references import (
    ReinforcementBody,
    SentCurriculum,
    plays_rows,
    read_curriculum,
    unknown_environment,
)


class DescribedBy:
    """Annotation of a JSON object that the specification describes as `model`. The keys of the
    model and of its hyperparameters may be null there, which means absent.
    """

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        described = handler(_by_name(self._model.__pydantic_core_schema__))
        properties = _nullable(handler.resolve_ref_schema(described))
        if inner := properties.get("hyperparameters"):
            _nullable(handler.resolve_ref_schema(inner["anyOf"][0]))
        return described


def _by_name(schema: CoreSchema) -> CoreSchema:
    """Wraps the schema, so that pydantic writes it as a component of its own, not inline."""
    name = schema.get("ref")
    if schema["type"] not in {"model", "function-after"} or not isinstance(name, str):
        return schema
    return definitions_schema(definition_reference_schema(name), [schema])


def _nullable(schema: JsonSchemaValue) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    required = schema.get("required", ())
    for name, described in properties.items():
        if name not in required and {"type": "null"} not in described.get("anyOf", ()):
            about = {
                key: described[key]
                for key in ("title", "description", "default")
                if key in described
            }
            rest = {key: value for key, value in described.items() if key not in about}
            if isinstance(about.get("default"), dict | list):
                # The parts have the same defaults, and client generators cannot read object
                # defaults.
                del about["default"]
            kinds = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
            properties[name] = {"anyOf": [*kinds, {"type": "null"}], **about}
    return properties


_MODELS: Final[dict[MethodType, type[RequestedMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementBody,
}
_PATH: Final = "method.reinforcement"
_Model = TypeVar("_Model", bound=BaseModel)


MaxTrainingTime = Annotated[
    float, Field(gt=0, le=1e9, allow_inf_nan=False), BeforeValidator(a_number)
]
MaxRollouts = Annotated[int, Field(ge=1, le=10**12), BeforeValidator(a_number)]


class CapsBody(WireModel):
    """Limits at which a job pauses."""

    max_training_time_s: MaxTrainingTime | None = None
    """Cap in seconds of wall time: the job pauses at the step that reaches it (an extension)."""
    max_rollouts: MaxRollouts | None = None
    """Cap on rollouts of training and validation: the job pauses at the step that reaches it (an
    extension)."""

    def to_caps(self) -> Caps:
        return Caps(self.max_training_time_s, self.max_rollouts)


class Method(WireModel):
    """The training method and its settings, under the key of its type."""

    type: MethodType
    """The training method."""
    reinforcement: Annotated[Json, DescribedBy(ReinforcementBody)] | None = None
    """Options of reinforcement learning."""
    supervised: Annotated[Json, DescribedBy(SupervisedMethod)] | None = None
    """Options of supervised training."""
    dpo: Annotated[Json, DescribedBy(DpoMethod)] | None = None
    """Options of preference training."""


class _NestedCaps(CapsBody):
    model_config = ConfigDict(extra="ignore")


def read_method(method: Method | None, hyperparameters: Json | None) -> RequestedMethod:
    kind: MethodType = "supervised" if method is None else method.type
    if method is not None:
        for fault in other_bodies(method.__dict__, kind):
            raise fault
    sent: Json | None = None if method is None else getattr(method, kind)
    if sent is None:
        sent = _absent(kind)
    sent = dict(sent)
    if hyperparameters is not None:
        sent = _with_deprecated(kind, sent, hyperparameters)
    present = _without_nulls(_MODELS[kind], sent)
    return _validated(
        _MODELS[kind], f"method.{kind}", present, elsewhere=parameters_of(kind, present)
    )


def refuse_unknown(method: RequestedMethod) -> None:
    elsewhere = parameters_of(method.kind, method)
    for field in walk_fields(type(method), method):
        if (fault := unknown_key_error(field, f"method.{method.kind}", elsewhere)) is not None:
            raise fault


def other_bodies(method: Json, kind: MethodType) -> Iterator[InvalidRequest]:
    for other in _MODELS:
        if other != kind and method.get(other) is not None:
            param = f"method.{other}"
            yield InvalidRequest(
                f"'{param}' is not read, because 'method.type' is '{kind}'. Remove it, or send the "
                f"type '{other}'.",
                param=param,
                code="invalid_value",
            )


def read_caps(method: Method | None, top: Caps) -> Caps:
    """Reads the caps at the top level and inside the method. A cap sent in both must be equal."""
    sent = None if method is None else method.reinforcement
    nested = _validated(_NestedCaps, _PATH, sent or {}).to_caps()
    for name in ("max_training_time_s", "max_rollouts"):
        values = {getattr(top, name), getattr(nested, name)} - {None}
        if len(values) > 1:
            raise InvalidRequest(
                f"'{name}' and '{_PATH}.{name}' differ; send one of them.",
                param=name,
                code="invalid_value",
            )
    return top.raised(nested)


def _absent(kind: MethodType) -> Json:
    match kind:
        case "reinforcement":
            raise missing_parameter(_PATH)
        case "supervised" | "dpo":
            return {}
        case _:
            assert_never(kind)


def _with_deprecated(kind: MethodType, sent: Json, hyperparameters: Json) -> Json:
    match kind:
        case "supervised":
            pass
        case "dpo" | "reinforcement":
            raise InvalidRequest(
                "'hyperparameters' is for supervised jobs; other methods contain their own.",
                param="hyperparameters",
                code="invalid_value",
            )
        case _:
            assert_never(kind)
    _validated(
        SupervisedMethod, "", _without_nulls(SupervisedMethod, {"hyperparameters": hyperparameters})
    )
    for field in walk_fields(SupervisedMethod, {"hyperparameters": hyperparameters}):
        if (fault := unknown_key_error(field, "")) is not None:
            raise fault
    newer = sent.get("hyperparameters")
    if newer is not None and not isinstance(newer, dict):
        return sent
    named = {key: value for key, value in (newer or {}).items() if value is not None}
    return {**sent, "hyperparameters": {**hyperparameters, **named}}


def _without_nulls(model: type[BaseModel], sent: Json) -> Json:
    known = model.model_fields
    present = {key: value for key, value in sent.items() if value is not None or key not in known}
    inner = present.get("hyperparameters")
    if isinstance(inner, dict):
        names = type(known["hyperparameters"].default).model_fields
        present["hyperparameters"] = {
            key: value for key, value in inner.items() if value is not None or key not in names
        }
    return present


def _validated(
    model: type[_Model], root: str, sent: Json, *, elsewhere: KeyHints = NOWHERE
) -> _Model:
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise first_fault(root, error, elsewhere=elsewhere) from error


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
        supervised = (None if self.method is None else self.method.supervised) or {}
        method = (None if self.method is None else self.method.reinforcement) or {}
        environment = method.get("environment")
        # An environment plays its own tasks, but for a registered one, and one of type `http`.
        has_tasks = environment is not None and not plays_rows(environment)
        if self.training_file is self.curriculum is None and not has_tasks:
            raise unknown_environment(environment) or missing_parameter("training_file")
        request = JobRequest(
            model=self.model,
            unread=read_unknown(self),
            overridden=tuple(overridden(self.hyperparameters, supervised.get("hyperparameters"))),
            training_file=self.training_file,
            validation_file=self.validation_file,
            curriculum=_read_curriculum(self.curriculum),
            method=read_method(self.method, self.hyperparameters),
            seed=self.seed,
            suffix=self.suffix,
            metadata=self.metadata,
            integrations=[stored_document(each) for each in self.integrations or []],
            evals=[
                each.to_attached(position, model=self.model)
                for position, each in enumerate(self.evals or [])
            ],
            caps=read_caps(self.method, self.to_caps()),
            priority=self.priority or 0,
        )
        request.check_files()
        return request


def call_fields(body: CreateFineTuningJob | Json) -> tuple[list[WalkedField], KeyHints]:
    """Returns the fields of a call outside its method's object, and the parameters for which a
    misspelt key may have been meant. The JSON may be invalid in any way.
    """
    kind = _method_type(body)
    hints = parameters_of(kind, kind and value_of(value_of(body, "method"), kind))
    return list(walk_fields(CreateFineTuningJob, body)), hints


def read_unknown(body: CreateFineTuningJob) -> tuple[UnreadKey, ...]:
    walked, elsewhere = call_fields(body)
    for field in walked:
        if (fault := unknown_key_error(field, "", elsewhere)) is not None:
            raise fault
    return tuple(unread(walked, "", elsewhere))


def _sent_elsewhere(body: CreateFineTuningJob, fault: InvalidRequest) -> InvalidRequest | None:
    if fault.code != "missing_required_parameter":
        return None
    missing_ones = {str(fault.param), *_TASKS} if fault.param in _NEEDED else {str(fault.param)}
    walked, elsewhere = call_fields(body)
    kind = _method_type(body)
    sent = None if kind is None else value_of(body.method, kind)
    if kind is not None and sent is not None:
        found = misnamed_key_error(
            walk_fields(METHOD_MODELS[kind], sent), f"method.{kind}", elsewhere, missing_ones
        )
        if found is not None:
            return found
    return misnamed_key_error(walked, "", elsewhere, missing_ones)


def _method_type(body: CreateFineTuningJob | Json) -> MethodType | None:
    sent = value_of(value_of(body, "method"), "type")
    return next((kind for kind in METHOD_MODELS if kind == sent), None)


def _read_curriculum(sent: str | Json | None) -> SentCurriculum | None:
    if sent is None:
        return None
    try:
        return read_curriculum(sent)
    except ValidationError as error:
        raise first_fault("curriculum", error) from error


class ResumeFineTuningJob(CapsBody):
    """New caps of a paused job; those that are absent or null do not change."""


_ROOTS: Final = ("", *(f"method.{kind}" for kind in METHOD_MODELS), "curriculum")
MAX_FAULTS: Final = 200


class Fault(DescribedModel):
    """One fault. `line` counts from 1; `pointer` is a JSON pointer into that line."""

    severity: Literal["error", "warning"]
    """`error`: the job would be refused or fail. `warning`: it would run."""
    code: str
    """The fault in a word that programs can compare."""
    message: str
    """The fault in a sentence, with its cure."""
    param: str | None
    """The parameter of the create call at fault."""
    line: int | None
    """Line of the file, from 1."""
    pointer: str | None
    """JSON pointer into that line."""

    @classmethod
    def of(cls, issue: PreflightIssue) -> "Fault":
        return cls(**asdict(issue))


class FineTuningJobValidation(DescribedModel):
    """Report on a create call that was checked but not made.

    `valid` means that there are no errors. Lengths are in tokens, `latency_ms` in milliseconds.
    """

    object: Literal["fine_tuning.job.validation"] = "fine_tuning.job.validation"
    valid: bool
    """True if there are no errors."""
    model: str | None
    """Name of the base model; `null` if it is unknown."""
    method: str
    """`reinforcement`, `supervised` or `dpo`."""
    errors: list[Fault]
    """Faults for which the job would be refused or fail."""
    warnings: list[Fault]
    """Faults with which the job would run."""
    training_file: FileSummary | None
    """Counts of the training file; `null` without a usable one."""
    validation_file: FileSummary | None
    """Counts of the validation file; `null` without a usable one."""
    overlap: Overlap | None
    """Rows that are in both files; `null` without both."""
    endpoints: list[EndpointCheck]
    """Tools and graders, each probed once without a call."""
    estimate: Estimate | None
    """Estimated cost of a reinforcement job; `null` for other methods and for a call that cannot be
    parsed.
    """
    grader_choice: GraderChoice | None
    """The grader that `auto` stands for; `null` for a call that names its grader."""

    @classmethod
    def of(cls, report: PreflightReport) -> "FineTuningJobValidation":
        dataset = report.dataset or DatasetReport(None, None, None, ())
        faults = [Fault.of(issue) for issue in report.issues]
        return cls.read(
            report,
            errors=[fault for fault in faults if fault.severity == "error"],
            warnings=[fault for fault in faults if fault.severity == "warning"],
            training_file=dataset.training,
            validation_file=dataset.validation,
            overlap=dataset.overlap,
            endpoints=list(report.endpoints),
        )


def read_call(body: dict[str, Any]) -> tuple[JobRequest | None, list[PreflightIssue]]:
    request, faults = _read(body)
    reported = {fault.param for fault in faults}
    return request, [*faults, *_unknown(body, reported=reported)]


def unread_in_method(body: dict[str, Any]) -> list[PreflightIssue]:
    method = CreateFineTuningJob.model_validate(body).to_spec().method
    keys = unread(
        walk_fields(type(method), method),
        f"method.{method.kind}",
        parameters_of(method.kind, method),
    )
    return [PreflightIssue("warning", UNKNOWN_PARAMETER, key.message, key.param) for key in keys]


def _unknown(body: dict[str, Any], *, reported: set[str | None]) -> Iterator[PreflightIssue]:
    walked, elsewhere = call_fields(body)
    unknown = [field for field in walked if field.kind is FieldKind.UNKNOWN][:MAX_FAULTS]
    refusals = (unknown_key_error(field, "", elsewhere) for field in unknown)
    method = body.get("method")
    kind = method.get("type") if isinstance(method, dict) else None
    others: Iterable[InvalidRequest] = ()
    if isinstance(method, dict) and isinstance(kind, str) and kind in METHOD_MODELS:
        others = other_bodies(method, kind)
    for refusal in (*refusals, *others):
        if refusal is not None and refusal.param not in reported:
            yield issue_of(refusal)
    for key in unread(unknown, "", elsewhere):
        if key.param not in reported:
            yield PreflightIssue("warning", UNKNOWN_PARAMETER, key.message, key.param)


def _read(body: dict[str, Any]) -> tuple[JobRequest | None, list[PreflightIssue]]:
    try:
        return CreateFineTuningJob.model_validate(body).to_spec(), []
    except ValidationError as error:
        return None, list(_faults(error, root=""))
    except InvalidRequest as error:
        _, elsewhere = call_fields(body)
        return None, _faults_behind(error, elsewhere)


def _faults_behind(error: InvalidRequest, elsewhere: KeyHints) -> list[PreflightIssue]:
    cause = error.__cause__
    if isinstance(cause, InvalidRequest):  # missing because of the error: no fault of its own
        return [issue_of(error), *_faults_behind(cause, elsewhere)[1:]]
    if not isinstance(cause, ValidationError):
        return [issue_of(error)]
    for root in _ROOTS:
        found = _faults(cause, root=root, elsewhere=elsewhere)
        first = next(found)
        if first.param == error.param:
            return [first, *found]
    return [issue_of(error)]


def _faults(
    error: ValidationError, *, root: str, elsewhere: KeyHints = NOWHERE
) -> Iterator[PreflightIssue]:
    found = refusals(root, error.errors(include_url=False), elsewhere=elsewhere)
    yield from map(issue_of, islice(found, MAX_FAULTS))
    if next(found, None) is not None:
        message = f"There are more faults than these {MAX_FAULTS}."
        yield PreflightIssue("error", "invalid_value", message, None)
