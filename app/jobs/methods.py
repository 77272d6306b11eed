"""Methods of a job: their names on the wire, the paths of their parameters, their stored form, and
what can be read of a call's JSON.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, Literal, Self, get_args

from pydantic import BaseModel, ValidationError

from app.jobs.learning import NothingToLearnOptions
from app.jobs.reinforcement import ReinforcementHyperparameters, ReinforcementMethod
from app.jobs.response_formats import ReasoningEffort
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod, TrainOn
from app.kit.faults import KeyHints
from app.tools.environments import ENVIRONMENTS, PARAM
from app.tools.references import is_reference, plays_rows

METHOD_MODELS: Final[dict[MethodType, type[SupervisedMethod | DpoMethod | ReinforcementMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementMethod,
}
CALL_PARAMETERS: Final = (
    "model",
    "training_file",
    "validation_file",
    "curriculum",
    "method",
    "suffix",
    "seed",
    "metadata",
    "integrations",
    "evals",
    "priority",
    "max_rollouts",
    "max_training_time_s",
)
"""Parameters outside the method, for which a misplaced key in it may be meant."""


def parameters_of(kind: MethodType | None, sent: Any) -> KeyHints:
    environment = sent.get("environment") if isinstance(sent, dict) else None
    environment = environment or getattr(sent, "environment", None)
    own = environment.get("type") if isinstance(environment, dict) else None
    own = own or getattr(environment, "type", None)
    return _parameters(kind, own if isinstance(own, str) and own in ENVIRONMENTS else None)


@cache
def _parameters(kind: MethodType | None, environment: str | None) -> KeyHints:
    call = {name: name for name in CALL_PARAMETERS}
    names = call | (_of_all() if kind is None else _of_method(kind))
    exact = dict[str, str]()
    for other in () if kind is None else METHOD_MODELS:
        exact = {
            name: f"method.{other}.{name}" for name in METHOD_MODELS[other].model_fields
        } | exact
    if environment is not None:
        options = ENVIRONMENTS[environment].model_fields.keys() - {"type"}
        exact |= {name: f"{PARAM}.{name}" for name in options}
    return KeyHints(names, exact)


def _of_method(kind: MethodType) -> dict[str, str]:
    fields = METHOD_MODELS[kind].model_fields
    hyperparameters: BaseModel = fields["hyperparameters"].default
    root = f"method.{kind}"
    inner = {name: f"{root}.hyperparameters.{name}" for name in type(hyperparameters).model_fields}
    return {**inner, **{name: f"{root}.{name}" for name in fields}}


def _of_all() -> dict[str, str]:
    kinds: tuple[MethodType, ...] = ("dpo", "supervised", "reinforcement")
    parameters: dict[str, str] = {kind: f"method.{kind}" for kind in kinds}
    for kind in kinds:
        parameters |= _of_method(kind)
    return parameters


@dataclass(frozen=True, slots=True)
class _StoredDocument:
    document: dict[str, Any]

    kind: ClassVar[MethodType]

    @property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = self.document[self.kind]
        return options

    @property
    def grader(self) -> dict[str, Any] | None:
        grader: dict[str, Any] | None = self.options.get("grader")
        return grader

    def with_options(self, options: dict[str, Any]) -> Self:
        return type(self)({**self.document, self.kind: options})


@dataclass(frozen=True, slots=True)
class StoredReinforcementMethod(_StoredDocument):
    kind: ClassVar[Literal["reinforcement"]] = "reinforcement"

    def parse(self) -> ReinforcementMethod:
        return ReinforcementMethod.model_validate(self.options)


@dataclass(frozen=True, slots=True)
class StoredSupervisedMethod(_StoredDocument):
    kind: ClassVar[Literal["supervised"]] = "supervised"

    def parse(self) -> SupervisedMethod:
        return SupervisedMethod.model_validate(self.options)


@dataclass(frozen=True, slots=True)
class StoredDpoMethod(_StoredDocument):
    kind: ClassVar[Literal["dpo"]] = "dpo"

    def parse(self) -> DpoMethod:
        return DpoMethod.model_validate(self.options)


StoredMethod = StoredReinforcementMethod | StoredSupervisedMethod | StoredDpoMethod


def stored_method(document: dict[str, Any]) -> StoredMethod:
    match document["type"]:
        case "reinforcement":
            return StoredReinforcementMethod(document)
        case "supervised":
            return StoredSupervisedMethod(document)
        case "dpo":
            return StoredDpoMethod(document)
        case unknown:
            raise ValueError(f"no method has the type {unknown!r}")


_METHODS: Final[tuple[MethodType, ...]] = ("reinforcement", "supervised", "dpo")
_EFFORTS: Final = get_args(ReasoningEffort)
ROOT: Final = "method.reinforcement"


def method_of(body: dict[str, Any]) -> dict[str, Any]:
    method = body.get("method")
    return method if isinstance(method, dict) else {}


def method_type(body: dict[str, Any]) -> MethodType:
    """Returns a call's method; for an unknown type, which is reported elsewhere, the one whose
    settings the call contains, so that its files can be checked.
    """
    method = method_of(body)
    named = method.get("type")
    return (
        next((kind for kind in _METHODS if kind == named), None)
        or next((kind for kind in _METHODS if kind in method), None)
        or "supervised"
    )


def means_method(body: dict[str, Any]) -> bool:
    """Returns false if nothing tells the method, so that the format of its rows is unknown."""
    method = method_of(body)
    return method.get("type") in (None, *_METHODS) or any(kind in method for kind in _METHODS)


def reinforcement_of(method: dict[str, Any]) -> dict[str, Any]:
    inner = method.get("reinforcement")
    return inner if isinstance(inner, dict) else {}


def is_http(inner: dict[str, Any]) -> bool:
    """Counts an unresolved reference, because only environments over HTTP are registered."""
    return plays_rows(inner.get("environment"))


def runs_calls(method: dict[str, Any]) -> bool:
    return job_tools(method) is not None or is_http(reinforcement_of(method))


def job_tools(method: dict[str, Any]) -> frozenset[str] | None:
    inner = reinforcement_of(method)
    tools = _listed(inner.get("tools"))
    if not tools and not _listed(inner.get("mcp_servers")):
        return None
    return frozenset(tool["name"] for tool in tools if isinstance(tool.get("name"), str))


def reasoning_effort(method: dict[str, Any]) -> str | None:
    """Returns `None` for the model's default, and for an invalid value, reported elsewhere."""
    hyper = reinforcement_of(method).get("hyperparameters")
    effort = hyper.get("reasoning_effort") if isinstance(hyper, dict) else None
    return effort if effort in _EFFORTS else None


def train_on(method: dict[str, Any]) -> TrainOn:
    """Returns the trained part of rows, `all` also for an invalid value, reported elsewhere."""
    supervised = method.get("supervised")
    part = supervised.get("train_on") if isinstance(supervised, dict) else None
    return "last" if part == "last" else "all"


def no_room_share(method: dict[str, Any]) -> float | None:
    sent = reinforcement_of(method).get("nothing_to_learn")
    try:
        options = NothingToLearnOptions.model_validate({} if sent is None else sent)
    except ValidationError:
        options = NothingToLearnOptions()
    return options.ending_share


def batch_size(body: dict[str, Any]) -> int | None:
    inner = method_of(body).get(method_type(body))
    for sent in (
        inner.get("hyperparameters") if isinstance(inner, dict) else None,
        body.get("hyperparameters"),
    ):
        size = sent.get("batch_size") if isinstance(sent, dict) else None
        if isinstance(size, int) and not isinstance(size, bool):
            return size
    return None


def reinforcement_hyperparameters(inner: dict[str, Any]) -> ReinforcementHyperparameters | None:
    sent = inner.get("hyperparameters")
    try:
        return ReinforcementHyperparameters.model_validate({} if sent is None else sent)
    except ValidationError:
        return None


def sent_hyperparameters(body: dict[str, Any]) -> tuple[Any, Any]:
    supervised = method_of(body).get("supervised")
    newer = supervised.get("hyperparameters") if isinstance(supervised, dict) else None
    return body.get("hyperparameters"), newer


def merged_hyperparameters(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the hyperparameters of a supervised job; those inside the method take precedence."""
    sent = (each for each in sent_hyperparameters(body) if isinstance(each, dict))
    return {name: value for each in sent for name, value in each.items() if value is not None}


def has_validation(body: dict[str, Any]) -> bool:
    """Returns whether the call brings held-out rows; a registered curriculum may have some."""
    curriculum = body.get("curriculum")
    if body.get("validation_file") is not None or isinstance(curriculum, str):
        return True
    if is_reference(curriculum, "training"):
        return True
    return isinstance(curriculum, dict) and bool(curriculum.get("validation"))


def _listed(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {} for item in value]
