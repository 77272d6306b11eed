"""Reads a job backwards: the nearest knob positions, and what the knobs cannot express. Pure.

Each knob is read from its first hyperparameter; the others of that knob are compared with what the
position sets. An absent or `auto` hyperparameter counts with the value that the service gives it,
where that does not depend on the rows.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, assert_never, get_args

from app.jobs.jobs import NO_CAPS, Caps
from app.jobs.learning import ObjectiveOptions
from app.jobs.stop_options import (
    Action,
    PreferenceStopOptions,
    ReinforcementStopOptions,
    StopOptions,
)
from app.jobs.supervised import MethodType
from app.kit.fields import DescribedFields
from app.teaching.plans import knobs as scales
from app.teaching.plans.estimates import default_settings, is_resolved, own_parts
from app.teaching.plans.knobs import KnobName, Knobs, PracticeMode
from app.teaching.plans.plans import KnobSettings, leaves, settings_of, value_at

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
    """Returns the knobs nearest to the options of a method and to the caps of its job, sent or
    stored. With `total_steps` the service has replaced every `auto` in the options.
    """
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
    action, target = (
        value_at(options, f"stop.{one}") for one in ("plateau.action", "target.value")
    )
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
    """The numbers of a method's options, with the service's own for absent ones and `auto`."""

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
    """Yields the settings of knobs that differ from the job's."""
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
    """Returns the value that an absent or automatic parameter has in every job."""
    if value is not None and value != "auto":
        return value
    name = parameter.rpartition(".")[2]
    match name:
        case "kl_coefficient":
            return ObjectiveOptions().kl_coefficient
        case "action" | "below":
            return getattr(getattr(_RULES[kind](), parameter.split(".")[-2]), name)
        case _:
            return _AUTOMATIC.get(name, value)


def _beyond(
    kind: MethodType, options: dict[str, Any], known: frozenset[str], total_steps: int | None
) -> Iterator[Outside]:
    """Yields the settings that no knob sets and that are not the service's own; `known` are the
    paths that the knobs set.
    """
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
