"""The settings that a job has unless they are sent, by their paths in the method. Pure.

Owns the comparison value of every setting that no knob has. Must not know the knobs.
"""

from typing import Any, Final, get_args

from pydantic import BaseModel

from app.domain.methods.loss import PolicyLoss, PreferenceLoss, SupervisedLoss
from app.domain.methods.method_models import METHOD_MODELS
from app.domain.methods.mismatch import MismatchOptions
from app.domain.methods.mode import AnyMode, AnyOrdering
from app.domain.methods.nothing_to_learn import NothingToLearnOptions
from app.domain.methods.objective import AdvantageOptions, ObjectiveOptions, OverlongOptions
from app.domain.methods.reinforcement import (
    DEFAULT_MAX_EPISODE_STEPS,
    ReinforcementMethod,
    automatic_batch,
    automatic_interval,
)
from app.domain.methods.stop import (
    KeepCheckpoints,
    MaxStepsRule,
    MaxTimeRule,
    TargetRule,
)
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod
from app.domain.plans.paths import leaves, value_at

_PLANNED: Final = frozenset({"grader", "tools", "mcp_servers", "environment"})
"""Parts of a method that a plan names beside its knobs."""
_CHOICES: Final[dict[str, dict[str, tuple[Any, str]]]] = {
    "reinforcement": {
        "mode": (AnyMode, "sync"),
        "ordering": (AnyOrdering, "uniform"),
        "advantage": (AdvantageOptions, "centred"),
        "loss": (PolicyLoss, "ppo"),
    },
    "supervised": {"loss": (SupervisedLoss, "cross_entropy")},
    "dpo": {"loss": (PreferenceLoss, "dpo")},
}
"""Parts that have a type: their classes, and the type of an absent part."""


def own_parts(kind: MethodType) -> frozenset[str]:
    """Returns the parts of a method that a plan leaves to the knobs and to the service, with the
    documented keys that are no fields.
    """
    model = METHOD_MODELS[kind]
    documented = getattr(model, "documented_keys", {})
    return frozenset({*model.model_fields, *documented}) - _PLANNED


def default_settings(kind: MethodType, sent: dict[str, Any]) -> dict[str, Any]:
    """Returns the defaults; those of a part with a type are the defaults of the type that was
    sent, and its `type` is the usual one.
    """
    usual = _fixed(kind)
    for part, (union, expected) in _CHOICES[kind].items():
        usual |= leaves(
            {part: {**_of_type(union, value_at(sent, f"{part}.type")), "type": expected}}
        )
    if value_at(sent, "loss.type") == "ppo":
        usual["loss.epsilon_high"] = value_at(sent, "loss.epsilon")
    return usual


def is_resolved(name: str, sent: dict[str, Any], total_steps: int) -> bool:
    """Returns whether the service writes this value for `auto` into a job of so many steps, as far
    as that is known without its rows and model.
    """
    match name:
        case "hyperparameters.batch_size":
            size, passes = value_at(sent, name), value_at(sent, "hyperparameters.n_epochs")
            steps = total_steps // passes if isinstance(passes, int) and passes else 0
            rows = range(max(0, steps - 1) * size + 1, steps * size + 1)
            return any(min(automatic_batch(count), count) == size for count in rows)
        case "hyperparameters.eval_interval":
            return bool(value_at(sent, name) == automatic_interval(total_steps))
        case "objective.token_budget":
            return True
        case _:
            return False


def _fixed(kind: MethodType) -> dict[str, Any]:
    model = METHOD_MODELS[kind]
    hyperparameters: BaseModel = model.model_fields["hyperparameters"].default
    parts = {
        "hyperparameters": hyperparameters.model_dump(),
        "stop": _rules(model),
        "keep_checkpoints": KeepCheckpoints().model_dump(),
        "nothing_to_learn": NothingToLearnOptions().model_dump(),
        "mismatch": MismatchOptions().model_dump(),
        "objective": ObjectiveOptions().model_dump() | {"overlong": _defaults(OverlongOptions)},
        "max_episode_steps": DEFAULT_MAX_EPISODE_STEPS,
        "train_on": "all",
    }
    return leaves(parts)


def _rules(model: type[ReinforcementMethod | SupervisedMethod | DpoMethod]) -> dict[str, Any]:
    """Returns the defaults of every stop rule, also of those that are off until they are sent."""
    rules: type[BaseModel]
    (rules,) = (
        each for each in get_args(model.model_fields["stop"].annotation) if each is not type(None)
    )
    optional: dict[str, type[BaseModel]] = {
        "target": TargetRule,
        "max_steps": MaxStepsRule,
        "max_time": MaxTimeRule,
    }
    return rules().model_dump() | {name: _defaults(rule) for name, rule in optional.items()}


def _of_type(union: Any, kind: Any) -> dict[str, Any]:
    """Returns the defaults of the member with a type; of an unknown type there are none."""
    members = _members(union)
    found = (each for each in members if kind in get_args(each.model_fields["type"].annotation))
    model = next(found, None)
    return {} if model is None else _defaults(model)


def _members(union: Any) -> tuple[type[BaseModel], ...]:
    if isinstance(union, type):
        return (union,)
    parts = get_args(union)
    return _members(parts[0]) if hasattr(union, "__metadata__") else parts


def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    fields = model.model_fields.items()
    return {name: field.default for name, field in fields if not field.is_required()}
