"""The methods of a job by their names on the wire."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel

from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod

METHOD_MODELS: Final[dict[MethodType, type[SupervisedMethod | DpoMethod | ReinforcementMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementMethod,
}


@cache
def method_parameters(kind: MethodType) -> Mapping[str, str]:
    """Returns the parameters of a method and of its hyperparameters, by the last part of their
    name.
    """
    fields = METHOD_MODELS[kind].model_fields
    hyperparameters: BaseModel = fields["hyperparameters"].default
    root = f"method.{kind}"
    inner = {name: f"{root}.hyperparameters.{name}" for name in type(hyperparameters).model_fields}
    return MappingProxyType({**inner, **{name: f"{root}.{name}" for name in fields}})
