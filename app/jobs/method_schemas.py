"""Describes `method` in the specification, apart from the code that reads it.

A method is read as any JSON object and validated by the domain, so that unknown keys are named
and each fault is reported with its path. This module describes each key with its type, range and
default to readers and to client generators. Must not validate anything.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeVar, assert_never

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import definition_reference_schema, definitions_schema

from app.jobs.jobs import Caps
from app.jobs.methods import parameters_of
from app.jobs.requests import RequestedMethod
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod, a_number
from app.kit.errors import InvalidRequest, missing_parameter
from app.kit.faults import NOWHERE, KeyHints, unknown_key_error
from app.kit.fields import Json, walk_fields
from app.kit.schemas import WireModel, first_fault
from app.tools.references import ReinforcementBody


class DescribedBy:
    """Annotation of a JSON object that the specification describes as `model`. The keys of the
    model and of its hyperparameters may be null there, which means absent.
    """

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model

    def __get_pydantic_json_schema__(
        self,
        core: CoreSchema,
        handler: GetJsonSchemaHandler,
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
    """Returns the schema's properties; each one that is not required may also be null."""
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
"""Seconds of wall time; extension of this project."""
MaxRollouts = Annotated[int, Field(ge=1, le=10**12), BeforeValidator(a_number)]
"""Training and validation rollouts; extension of this project."""


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
    """Reads an absent method as supervised. Raises `InvalidRequest` with the parameter."""
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
    """Raises `InvalidRequest` for the first unknown key of the method that no job takes."""
    elsewhere = parameters_of(method.kind, method)
    for field in walk_fields(type(method), method):
        if (fault := unknown_key_error(field, f"method.{method.kind}", elsewhere)) is not None:
            raise fault


def other_bodies(method: Json, kind: MethodType) -> Iterator[InvalidRequest]:
    """Yields an error for each method whose settings are sent together with those of
    `method.type`.
    """
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
    """Returns the default options of a method that was sent without any. Raises
    `InvalidRequest`.
    """
    match kind:
        case "reinforcement":
            raise missing_parameter(_PATH)
        case "supervised" | "dpo":
            return {}
        case _:
            assert_never(kind)


def _with_deprecated(kind: MethodType, sent: Json, hyperparameters: Json) -> Json:
    """Merges the deprecated top-level hyperparameters; those inside the method take precedence."""
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
        SupervisedMethod,
        "",
        _without_nulls(SupervisedMethod, {"hyperparameters": hyperparameters}),
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
    """Returns the options without known keys that are null, also in the hyperparameters."""
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
