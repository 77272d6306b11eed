"""The methods of a job by their names on the wire, and the paths of their parameters."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel

from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod
from app.kit.faults import KeyHints
from app.tools.environments import ENVIRONMENTS, PARAM

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
"""Parameters of a create call outside its method; a misplaced key in the method may be meant for
one of them.
"""


def parameters_of(kind: MethodType | None, sent: Any) -> KeyHints:
    """Returns the paths of all parameters of a call with this method; `sent` is the method's
    object. `None` is a call without a method.
    """
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
    """Returns the parameters of every method, and the methods themselves."""
    kinds: tuple[MethodType, ...] = ("dpo", "supervised", "reinforcement")
    parameters: dict[str, str] = {kind: f"method.{kind}" for kind in kinds}
    for kind in kinds:
        parameters |= _of_method(kind)
    return parameters


@dataclass(frozen=True, slots=True)
class _StoredDocument:
    document: dict[str, Any]
    """The whole `method` object."""

    kind: ClassVar[MethodType]

    @property
    def options(self) -> dict[str, Any]:
        """The object under the type's own key."""
        options: dict[str, Any] = self.document[self.kind]
        return options

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
    """Returns a document as its class. Raises `ValueError` for an unknown type."""
    match document["type"]:
        case "reinforcement":
            return StoredReinforcementMethod(document)
        case "supervised":
            return StoredSupervisedMethod(document)
        case "dpo":
            return StoredDpoMethod(document)
        case unknown:
            raise ValueError(f"no method has the type {unknown!r}")
