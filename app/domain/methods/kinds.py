"""The methods of a job by their names on the wire."""

from typing import Final

from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod

METHOD_MODELS: Final[dict[MethodType, type[SupervisedMethod | DpoMethod | ReinforcementMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementMethod,
}
