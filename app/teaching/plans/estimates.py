"""The estimated cost of a compiled plan, from the rows of its files. Pure."""

from dataclasses import dataclass
from typing import Any, Final, assert_never, get_args

from pydantic import BaseModel

from app.jobs.learning import (
    AdvantageOptions,
    NothingToLearnOptions,
    ObjectiveOptions,
    OverlongOptions,
)
from app.jobs.losses import PolicyLoss, PreferenceLoss, SupervisedLoss
from app.jobs.methods import METHOD_MODELS
from app.jobs.modes import AnyMode, AnyOrdering, MismatchOptions
from app.jobs.preflight import Estimate, FileSummary, PreflightReport
from app.jobs.reinforcement import (
    DEFAULT_MAX_EPISODE_STEPS,
    ReinforcementMethod,
    automatic_batch,
    automatic_interval,
)
from app.jobs.stop_options import KeepCheckpoints, MaxStepsRule, MaxTimeRule, TargetRule
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod
from app.kit.fields import DescribedFields
from app.teaching.plans.plans import leaves, value_at

_NO_TIME = (
    "The time is unknown until a job of this project on this base model has finished: no pace has "
    "been measured."
)
_NO_SAMPLES = (
    "Steps are the rows divided by the rows of a step, times the passes. The method samples no "
    "rollouts; its tokens and time are not estimated."
)


@dataclass(frozen=True, slots=True)
class PlanEstimate(DescribedFields):
    """Estimated cost of a plan's job if no rule stops it early."""

    training_rows: int
    """Rows of the training file."""
    validation_rows: int | None
    """Rows of the validation file; `null` without one."""
    total_steps: int
    """Optimizer steps of the whole job."""
    rollouts: int
    """Rollouts of training and all validations; 0 for methods that sample none."""
    prompt_tokens: int | None
    """Tokens of the prompts of all rollouts; `null` if they are unknown."""
    completion_tokens: int | None
    """Tokens that the model would sample; `null` if they are unknown."""
    training_seconds: float | None
    """Seconds on one worker by the measured pace of finished jobs; `null` without one."""
    explanation: str
    """The basis of the numbers, and the reason for each `null`."""


def plan_estimate(
    kind: MethodType, job: dict[str, Any], report: PreflightReport
) -> PlanEstimate | None:
    """Returns the cost of a job whose files were read; `None` without a readable file."""
    training = None if report.dataset is None else report.dataset.training
    validation = None if report.dataset is None else report.dataset.validation
    if training is None or not training.rows:
        return None
    held_out = None if validation is None else validation.rows
    match kind:
        case "reinforcement":
            found = report.estimate
            return None if found is None else _sampled(found, training.rows, held_out)
        case "supervised" | "dpo":
            return _offline(job["method"][kind]["hyperparameters"], training, held_out)
        case _:
            assert_never(kind)


def _sampled(found: Estimate, training_rows: int, validation_rows: int | None) -> PlanEstimate:
    measured = found.basis == "history"
    return PlanEstimate(
        training_rows=training_rows,
        validation_rows=validation_rows,
        total_steps=found.total_steps,
        rollouts=found.train_rollouts + found.validation_rollouts,
        prompt_tokens=found.prompt_tokens,
        completion_tokens=found.completion_tokens,
        training_seconds=found.training_seconds if measured else None,
        explanation=found.explanation if measured else f"{found.explanation} {_NO_TIME}",
    )


def _offline(
    sent: dict[str, Any], training: FileSummary, validation_rows: int | None
) -> PlanEstimate:
    per_step = min(int(sent["batch_size"]), training.rows)
    return PlanEstimate(
        training_rows=training.rows,
        validation_rows=validation_rows,
        total_steps=-(-training.rows // per_step) * int(sent["n_epochs"]),
        rollouts=0,
        prompt_tokens=None,
        completion_tokens=None,
        training_seconds=None,
        explanation=_NO_SAMPLES,
    )


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
