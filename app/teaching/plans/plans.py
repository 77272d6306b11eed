"""Improvement plans: the scale of each knob, and the job that a plan compiles to. Pure.

Every scale is strictly monotone, so that a compiled job gives its knobs back.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, assert_never, get_args

from pydantic import ConfigDict, Field

from app.jobs.jobs import JobRequest, RequestedMethod
from app.jobs.reinforcement import DEFAULT_ROLLOUTS_PER_EXAMPLE
from app.jobs.stop_options import Action
from app.jobs.supervised import DpoMethod, MethodType, OfflineMethodType, SupervisedMethod
from app.kit.errors import missing_parameter, refused_value
from app.kit.fields import DescribedFields, DescribedModel
from app.tools.references import ReinforcementBody, read_curriculum

KnobName = Literal["practice_mode", "drift_guard", "effort", "creativity", "auto_stop", "target"]
PresetMode = Literal["quick", "balanced", "thorough"]
PracticeMode = Literal["quick", "balanced", "thorough", "custom"]
Effort = Literal["light", "standard", "strong", "maximum"]
PRESET_MODES: Final[tuple[PresetMode, ...]] = get_args(PresetMode)
EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)
"""Presets from the least to the most compute."""
Position = Annotated[int, Field(strict=True, ge=0, le=100)]
PARAM: Final = "knobs"


class Knobs(DescribedModel):
    """Positions of all knobs of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    practice_mode: PracticeMode = "balanced"
    """Number of passes over the rows: `quick`, `balanced`, `thorough`, or `custom` with
    `n_epochs`.
    """
    n_epochs: Annotated[int, Field(strict=True, ge=1, le=50)] | None = None
    """Times that the rows are used; for the practice mode `custom` only."""
    drift_guard: Position = 50
    """Strength that holds the model near its start: 0 (free) to 100 (tight)."""
    effort: Effort = "standard"
    """Compute spent on each row."""
    creativity: Position | None = None
    """Variety of answers: 0 (strict) to 100; absent: 50. Only for reinforcement."""
    auto_stop: Action = "stop"
    """Reaction when practice no longer helps: none, a warning, a pause, or the end with the best
    checkpoint.
    """
    target: Annotated[float, Field(strict=True, ge=-1e9, le=1e9)] | None = None
    """Validation value at which the job ends; absent: none."""


def checked_knobs(knobs: Knobs, kind: MethodType) -> Knobs:
    """Completes the knobs of a method. Raises `InvalidRequest` for combinations without sense."""
    custom = knobs.practice_mode == "custom"
    if custom and knobs.n_epochs is None:
        raise missing_parameter(f"{PARAM}.n_epochs")
    if not custom and knobs.n_epochs is not None:
        reason = f"the practice mode '{knobs.practice_mode}' has its own number; send 'custom'"
        raise refused_value(f"{PARAM}.n_epochs", reason)
    if kind == "reinforcement":
        position = 50 if knobs.creativity is None else knobs.creativity
        return knobs.model_copy(update={"creativity": position})
    if knobs.creativity is not None:
        reason = f"a job of the method '{kind}' samples no answers; leave it out"
        raise refused_value(f"{PARAM}.creativity", reason)
    return knobs


_MIDDLE: Final = 50
_KL_PER_SQUARE: Final = 1e-5
"""So that 100 is 0.1, the largest coefficient of Tulu 3's runs."""
_ENTROPY_SHARE: Final = 0.1
"""Nats per token: the stop rule's own default, in the middle."""
_LOWEST_TEMPERATURE: Final = 0.5


def kl_coefficient(drift_guard: int) -> float:
    """Returns the KL coefficient, 0 to 0.1: fine steps near 0, where published runs are."""
    return round(_KL_PER_SQUARE * drift_guard**2, 7)


def guard_of_kl(coefficient: float) -> int:
    return _position(math.sqrt(max(0.0, coefficient) / _KL_PER_SQUARE))


def rate_multiplier(drift_guard: int) -> float:
    """Returns the factor on the base model's rate: 2 at 0, 1 in the middle, a half at 100."""
    return round(2 ** (1 - drift_guard / _MIDDLE), 4)


def guard_of_rate(multiplier: float) -> int:
    return _position(_MIDDLE * (1 - math.log2(multiplier))) if multiplier > 0 else 100


def beta(drift_guard: int) -> float:
    """Returns the beta of DPO: 0.01 at 0, the paper's 0.1 in the middle, 1 at 100."""
    return round(0.1 * 10 ** (drift_guard / _MIDDLE - 1), 5)


def guard_of_beta(value: float) -> int:
    return _position(_MIDDLE * (1 + math.log10(value / 0.1))) if value > 0 else 0


def eval_temperature(creativity: int) -> float:
    """Returns the temperature of validations: 0.5 to 1.5; the middle is training's, 1."""
    return round(_LOWEST_TEMPERATURE + creativity / 100, 2)


def creativity_of(temperature: float) -> int:
    return _position(100 * (temperature - _LOWEST_TEMPERATURE))


def entropy_share(creativity: int) -> float:
    """Returns the share of the first entropy at which the entropy guard acts: 0.025 to 0.4."""
    return round(_ENTROPY_SHARE * 2 ** ((creativity - _MIDDLE) / 25), 6)


def compute_multiplier(effort: Effort) -> float:
    """Returns the factor on 8 rollouts of each row: 4, 8, 16 or 32 rollouts."""
    return 2.0 ** (EFFORTS.index(effort) - 1)


def effort_of_compute(multiplier: float) -> Effort:
    return min(EFFORTS, key=lambda effort: _ratio(compute_multiplier(effort), multiplier))


def eval_samples(effort: Effort) -> int:
    return max(1, int(compute_multiplier(effort)))


def batch_size(kind: OfflineMethodType, effort: Effort) -> int:
    """Returns the rows of an optimizer step of supervised and DPO jobs; half is twice the steps."""
    return int((16 if kind == "supervised" else 32) / compute_multiplier(effort))


def effort_of_batch(kind: OfflineMethodType, rows: float) -> Effort:
    return min(EFFORTS, key=lambda effort: _ratio(batch_size(kind, effort), rows))


def epochs(kind: MethodType, mode: PresetMode, effort: Effort) -> int:
    """Returns the passes over the rows; more effort of a reinforcement job is more of them."""
    sampled = kind == "reinforcement"
    usual = {"quick": 1, "balanced": 3, "thorough": 10 if sampled else 5}[mode]
    factor = {"strong": 1.5, "maximum": 2.0}.get(effort, 1.0) if sampled else 1.0
    return math.ceil(usual * factor)


def mode_of_epochs(kind: MethodType, n_epochs: int, effort: Effort) -> PresetMode | None:
    """Returns the preset with this number of epochs; `None` is `custom`."""
    return next((mode for mode in PRESET_MODES if epochs(kind, mode, effort) == n_epochs), None)


def _position(value: float) -> int:
    return min(100, max(0, round(value)))


def _ratio(one: float, other: float) -> float:
    return abs(math.log(one / other)) if other > 0 else math.inf


def value_at(document: Any, parameter: str) -> Any:
    for name in parameter.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def with_value(document: dict[str, Any], parameter: str, value: Any) -> dict[str, Any]:
    name, _, rest = parameter.partition(".")
    if not rest:
        return {**document, name: value}
    inner = document.get(name)
    return {**document, name: with_value(inner if isinstance(inner, dict) else {}, rest, value)}


def leaves(document: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= leaves(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


_HYPER: Final = "hyperparameters"
_RULES: Final[dict[MethodType, tuple[str, ...]]] = {
    "reinforcement": ("plateau", "gap", "nothing_trained", "entropy_collapse", "entropy_rise"),
    "supervised": ("plateau", "gap", "nothing_trained"),
    "dpo": ("plateau", "gap", "nothing_trained", "chosen_reward"),
}
_RULE_REASONS: Final = {
    "plateau": "validation has not improved for three validations in succession",
    "gap": "training is ahead of validation, so that rows are memorised or the grader is exploited",
    "nothing_trained": "the first steps have changed no weight",
    "entropy_collapse": "the model has stopped trying different answers",
    "entropy_rise": "the model becomes random",
    "chosen_reward": "the preferred answers become less probable",
}


@dataclass(frozen=True, slots=True)
class Setting(DescribedFields):
    """One hyperparameter that a knob sets."""

    parameter: str
    """Path of the hyperparameter in the job's body."""
    value: Any
    """The value that the knob sets."""
    reason: str
    """Reason for the value."""


@dataclass(frozen=True, slots=True)
class KnobSettings:
    knob: KnobName
    position: Any
    settings: tuple[Setting, ...]

    @property
    def sentence(self) -> str:
        name = self.knob.replace("_", " ").capitalize()
        if not self.settings:
            return f"{name} is not set, so no value of the validation ends the job."
        parts = [
            f"sets {each.parameter.rpartition('method.')[2].partition('.')[2]} to {each.value} "
            f"because {each.reason}"
            for each in self.settings
        ]
        return f"{name} {self.position} " + "; it ".join(parts) + "."


def settings_of(knobs: Knobs, kind: MethodType) -> Iterator[KnobSettings]:
    yield KnobSettings("practice_mode", knobs.practice_mode, (_practice(knobs, kind),))
    yield KnobSettings("drift_guard", knobs.drift_guard, tuple(_drift(knobs, kind)))
    yield KnobSettings("effort", knobs.effort, tuple(_effort(knobs, kind)))
    if knobs.creativity is not None:
        creative = tuple(_creativity(knobs.creativity, kind))
        yield KnobSettings("creativity", knobs.creativity, creative)
    yield KnobSettings("auto_stop", knobs.auto_stop, tuple(_stops(knobs, kind)))
    target = () if knobs.target is None else (_target(knobs.target, kind),)
    yield KnobSettings("target", knobs.target, target)


def _practice(knobs: Knobs, kind: MethodType) -> Setting:
    path = _path(kind, _HYPER, "n_epochs")
    mode = knobs.practice_mode
    if mode == "custom":
        return Setting(path, knobs.n_epochs, "you chose this number of passes over the rows")
    count = epochs(kind, mode, knobs.effort)
    return Setting(path, count, f"a {mode} practice passes {count} times over the rows")


def _drift(knobs: Knobs, kind: MethodType) -> Iterator[Setting]:
    guard = knobs.drift_guard
    match kind:
        case "reinforcement":
            reason = "this much advantage is lost for each nat that an answer moves from the start"
            path = _path(kind, "objective", "kl_coefficient")
            yield Setting(path, kl_coefficient(guard), reason)
        case "dpo":
            reason = "it weighs the distance from the start model, and 0.1 is the DPO paper's"
            yield Setting(_path(kind, _HYPER, "beta"), beta(guard), reason)
        case "supervised":
            pass
        case _:
            assert_never(kind)
    reason = "smaller steps stay nearer to the start, and 1 is the base model's own rate"
    path = _path(kind, _HYPER, "learning_rate_multiplier")
    yield Setting(path, rate_multiplier(guard), reason)


def _effort(knobs: Knobs, kind: MethodType) -> Iterator[Setting]:
    match kind:
        case "reinforcement":
            compute = compute_multiplier(knobs.effort)
            rollouts = round(DEFAULT_ROLLOUTS_PER_EXAMPLE * compute)
            path = _path(kind, _HYPER, "compute_multiplier")
            yield Setting(path, compute, f"each row gets {rollouts} rollouts to compare")
            samples = eval_samples(knobs.effort)
            reason = "more rollouts of a held-out row make a validation less noisy"
            yield Setting(_path(kind, _HYPER, "eval_samples"), samples, reason)
        case "supervised" | "dpo":
            size = batch_size(kind, knobs.effort)
            reason = "fewer rows in a step are more steps over the same rows"
            yield Setting(_path(kind, _HYPER, "batch_size"), size, reason)
        case _:
            assert_never(kind)


def _creativity(creativity: int, kind: MethodType) -> Iterator[Setting]:
    reason = (
        "validations choose the best checkpoint at the temperature at which you will call it, "
        "while training always samples at 1"
    )
    temperature = eval_temperature(creativity)
    yield Setting(_path(kind, _HYPER, "eval_temperature"), temperature, reason)
    reason = "below this share of their first entropy the answers are no longer varied enough"
    path = _path(kind, "stop", "entropy_collapse", "share")
    yield Setting(path, entropy_share(creativity), reason)


def _stops(knobs: Knobs, kind: MethodType) -> Iterator[Setting]:
    for rule in _RULES[kind]:
        reason = f"this is what you want done when {_RULE_REASONS[rule]}"
        yield Setting(_path(kind, "stop", rule, "action"), knobs.auto_stop, reason)


def _target(value: float, kind: MethodType) -> Setting:
    reason = "the job ends once validation has reached it beyond chance"
    return Setting(_path(kind, "stop", "target", "value"), value, reason)


def _path(kind: MethodType, *names: str) -> str:
    return ".".join(("method", kind, *names))


BODIES: Final[dict[MethodType, type[RequestedMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementBody,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    kind: MethodType
    knobs: Knobs
    call: dict[str, Any]
    """Parameters of the job outside its method: model, data, seed, suffix, metadata."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of the method before the knobs: those of the recipe, grader and tools."""


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    job: dict[str, Any]
    knobs: Knobs
    explanation: tuple[KnobSettings, ...]


def compile_plan(request: PlanRequest) -> CompiledPlan:
    knobs = checked_knobs(request.knobs, request.kind)
    explanation = tuple(settings_of(knobs, request.kind))
    method = {"type": request.kind, request.kind: request.options}
    job = {**request.call, "method": method}
    for knob in explanation:
        for setting in knob.settings:
            job = with_value(job, setting.parameter, setting.value)
    return CompiledPlan(job, knobs, explanation)


def job_request(plan: CompiledPlan) -> JobRequest:
    job, curriculum = plan.job, plan.job.get("curriculum")
    kind: MethodType = job["method"]["type"]
    request = JobRequest(
        model=job["model"],
        training_file=job.get("training_file"),
        validation_file=job.get("validation_file"),
        curriculum=None if curriculum is None else read_curriculum(curriculum),
        method=BODIES[kind].model_validate(job["method"][kind]),
        seed=job.get("seed"),
        suffix=job.get("suffix"),
        metadata=job.get("metadata"),
    )
    request.check_files()
    return request
