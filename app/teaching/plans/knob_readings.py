"""Estimates what a plan costs, and reads a job backwards: the nearest knob positions, and what no
knob expresses. Pure.

Each knob is read from its first hyperparameter; the others of that knob are compared with what the
position sets. An absent or `auto` hyperparameter counts with the value that the service gives it,
where that does not depend on the rows.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, assert_never, get_args

from pydantic import BaseModel

from app.jobs.jobs import NO_CAPS, Caps
from app.jobs.learning import (
    TOKEN_PENALTY,
    AdvantageOptions,
    AnyMode,
    AnyOrdering,
    MismatchOptions,
    NothingToLearnOptions,
    ObjectiveOptions,
    OverlongOptions,
)
from app.jobs.losses import PolicyLoss, PreferenceLoss, SupervisedLoss
from app.jobs.methods import METHOD_MODELS
from app.jobs.preflight import Estimate, FileSummary, PreflightReport
from app.jobs.reinforcement import (
    DEFAULT_MAX_EPISODE_STEPS,
    ReinforcementMethod,
    automatic_batch,
    automatic_interval,
)
from app.jobs.stop_options import (
    Action,
    KeepCheckpoints,
    MaxStepsRule,
    MaxTimeRule,
    PreferenceStopOptions,
    ReinforcementStopOptions,
    StopOptions,
    TargetRule,
)
from app.jobs.supervised import DpoMethod, MethodType, SupervisedMethod
from app.kit.fields import DescribedFields
from app.teaching.plans import plans as scales
from app.teaching.plans.plans import (
    KnobName,
    Knobs,
    KnobSettings,
    PracticeMode,
    leaves,
    settings_of,
    value_at,
)

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
    model = METHOD_MODELS[kind]
    documented = getattr(model, "documented_keys", {})
    return frozenset({*model.model_fields, *documented}) - _PLANNED


def default_settings(kind: MethodType, sent: dict[str, Any]) -> dict[str, Any]:
    """Returns the defaults; those of a part with a type are those of the type that was sent."""
    usual = _fixed(kind)
    for part, (union, expected) in _CHOICES[kind].items():
        usual |= leaves(
            {part: {**_of_type(union, value_at(sent, f"{part}.type")), "type": expected}}
        )
    if value_at(sent, "loss.type") == "ppo":
        usual["loss.epsilon_high"] = value_at(sent, "loss.epsilon")
    return usual


def is_resolved(name: str, sent: dict[str, Any], total_steps: int) -> bool:
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
        case "objective.token_penalty":
            return value_at(sent, name) in (0.0, TOKEN_PENALTY)
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


_AUTOMATIC: Final[dict[str, float]] = {
    "learning_rate_multiplier": 1.0,
    "compute_multiplier": 1.0,
    "eval_samples": 1,
    "eval_temperature": 1.0,
    "beta": 0.1,
}
"""Values of `auto` that are the same for every file."""
_RULES: Final[dict[MethodType, type[StopOptions]]] = {
    "reinforcement": ReinforcementStopOptions,
    "supervised": StopOptions,
    "dpo": PreferenceStopOptions,
}
_CLOSE: Final = 1e-6
"""Relative difference of equal numbers."""


@dataclass(frozen=True, slots=True)
class Outside(DescribedFields):
    """A setting of a job that no position of a knob expresses."""

    parameter: str
    """Path of the setting in the job's body."""
    value: Any
    """The job's value; `null` is an absent one."""
    nearest: Any
    """The value that the nearest position sets; `null` if no knob sets this parameter."""
    knob: KnobName | None
    """The knob that sets this parameter; `null` if none does."""
    message: str
    """The difference in a sentence."""


@dataclass(frozen=True, slots=True)
class Reading:
    knobs: Knobs
    explanation: tuple[KnobSettings, ...]
    outside: tuple[Outside, ...]


def reading_of(
    kind: MethodType,
    options: dict[str, Any],
    *,
    caps: Caps = NO_CAPS,
    total_steps: int | None = None,
) -> Reading:
    """With `total_steps` the service has replaced every `auto` in the options."""
    job = {"method": {"type": kind, kind: options}}
    knobs = _knobs(kind, options)
    explanation = tuple(settings_of(knobs, kind))
    known = frozenset(setting.parameter for knob in explanation for setting in knob.settings)
    outside = (
        *_between(explanation, job, kind),
        *_beyond(kind, options, known, total_steps),
        # Except the caps that the method names.
        *(
            _unset(name, value)
            for name, value in asdict(caps).items()
            if value is not None and options.get(name) is None
        ),
    )
    return Reading(knobs, explanation, outside)


def _knobs(kind: MethodType, options: dict[str, Any]) -> Knobs:
    number = _Numbers(kind, options)
    multiplier = number.of("hyperparameters.learning_rate_multiplier")
    creativity = None
    match kind:
        case "reinforcement":
            guard = scales.guard_of_kl(number.of("objective.kl_coefficient"))
            effort = scales.effort_of_compute(number.of("hyperparameters.compute_multiplier"))
            creativity = scales.creativity_of(number.of("hyperparameters.eval_temperature"))
        case "supervised":
            guard = scales.guard_of_rate(multiplier)
            effort = scales.effort_of_batch(kind, number.of("hyperparameters.batch_size"))
        case "dpo":
            guard = scales.guard_of_beta(number.of("hyperparameters.beta"))
            effort = scales.effort_of_batch(kind, number.of("hyperparameters.batch_size"))
        case _:
            assert_never(kind)
    sent = value_at(options, "hyperparameters.n_epochs")
    n_epochs = int(sent) if _is_number(sent) and 1 <= sent <= 50 else None  # noqa: PLR2004 - the range of the hyperparameter
    preset = "balanced" if n_epochs is None else scales.mode_of_epochs(kind, n_epochs, effort)
    mode: PracticeMode = preset or "custom"
    action = value_at(options, "stop.plateau.action")
    target = value_at(options, "stop.target.value")
    return Knobs(
        practice_mode=mode,
        n_epochs=None if preset else n_epochs,
        drift_guard=guard,
        effort=effort,
        creativity=creativity,
        auto_stop=next((one for one in get_args(Action) if one == action), "warn"),
        target=float(target) if _is_number(target) else None,
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    kind: MethodType
    options: dict[str, Any]

    def of(self, path: str) -> float:
        value, name = value_at(self.options, path), path.rpartition(".")[2]
        if _is_number(value):
            return float(value)
        if name == "batch_size" and self.kind != "reinforcement":
            return scales.batch_size(self.kind, "standard")
        return _AUTOMATIC.get(name, 0.0)


def _between(
    explanation: tuple[KnobSettings, ...], job: dict[str, Any], kind: MethodType
) -> Iterator[Outside]:
    for knob in explanation:
        for setting in knob.settings:
            value = value_at(job, setting.parameter)
            compared = _compared(setting.parameter, value, kind)
            if _same(compared, setting.value):
                continue
            shown = "absent" if value is None else value
            message = (
                f"{setting.parameter} is {shown}; the nearest position of {knob.knob}, "
                f"{knob.position}, sets {setting.value}."
            )
            yield Outside(setting.parameter, value, setting.value, knob.knob, message)


def _compared(parameter: str, value: Any, kind: MethodType) -> Any:
    if value is not None and value != "auto":
        return value
    name = parameter.rpartition(".")[2]
    match name:
        case "kl_coefficient":
            return ObjectiveOptions().kl_coefficient
        case "action" | "share":
            return getattr(getattr(_RULES[kind](), parameter.split(".")[-2]), name)
        case _:
            return _AUTOMATIC.get(name, value)


def _beyond(
    kind: MethodType, options: dict[str, Any], known: frozenset[str], total_steps: int | None
) -> Iterator[Outside]:
    """Yields settings that no knob sets and the service does not choose; knobs set `known`."""
    sent = {name: value for name, value in options.items() if name in own_parts(kind)}
    usual = default_settings(kind, sent)
    for name, value in leaves(sent).items():
        parameter = f"method.{kind}.{name}"
        if value is None or value == "auto" or parameter in known:
            continue
        if name.startswith("hyperparameters.") and name not in usual:
            continue  # a hosted one of another method, which nothing reads
        resolved = total_steps is not None and is_resolved(name, sent, total_steps)
        if not resolved and not _same(value, usual.get(name)):
            yield _unset(parameter, value)


def _unset(parameter: str, value: Any) -> Outside:
    message = f"{parameter} is {value}; no knob sets it: change it in the job's body."
    return Outside(parameter, value, None, None, message)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    if _is_number(one) and _is_number(other):
        return bool(abs(one - other) <= _CLOSE * max(abs(one), abs(other)))
    return bool(one == other)
