"""The scale of each knob: which number a position stands for, and the nearest position of a number.

Every scale is strictly monotone, so that a compiled job gives its knobs back.
"""

import math
from typing import Annotated, Final, Literal, get_args

from pydantic import ConfigDict, Field

from app.jobs.stop_options import Action
from app.jobs.supervised import MethodType, OfflineMethodType
from app.kit.errors import missing_parameter, refused_value
from app.kit.fields import DescribedModel

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
    """Returns the knobs of a method with the default of `creativity`. Raises `InvalidRequest` for
    combinations that mean nothing.
    """
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
_ENTROPY_FLOOR: Final = 0.02
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
    """Returns the temperature of validations: 0.5 to 1.5, and 1, that of training, in the
    middle.
    """
    return round(_LOWEST_TEMPERATURE + creativity / 100, 2)


def creativity_of(temperature: float) -> int:
    return _position(100 * (temperature - _LOWEST_TEMPERATURE))


def entropy_floor(creativity: int) -> float:
    """Returns the nats per token below which the entropy guard acts: 0.005 to 0.08."""
    return round(_ENTROPY_FLOOR * 2 ** ((creativity - _MIDDLE) / 25), 6)


def compute_multiplier(effort: Effort) -> float:
    """Returns the factor on 8 rollouts of each row: 4, 8, 16 or 32 rollouts."""
    return 2.0 ** (EFFORTS.index(effort) - 1)


def effort_of_compute(multiplier: float) -> Effort:
    return min(EFFORTS, key=lambda effort: _ratio(compute_multiplier(effort), multiplier))


def eval_samples(effort: Effort) -> int:
    """Returns the rollouts of each held-out row in a validation."""
    return max(1, int(compute_multiplier(effort)))


def batch_size(kind: OfflineMethodType, effort: Effort) -> int:
    """Returns the rows of an optimizer step of supervised and DPO jobs: half of them is twice the
    steps.
    """
    return int((16 if kind == "supervised" else 32) / compute_multiplier(effort))


def effort_of_batch(kind: OfflineMethodType, rows: float) -> Effort:
    return min(EFFORTS, key=lambda effort: _ratio(batch_size(kind, effort), rows))


def epochs(kind: MethodType, mode: PresetMode, effort: Effort) -> int:
    """Returns how often the rows are used. More effort of a reinforcement job is more steps too; of
    the other methods it is smaller batches.
    """
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
    """Returns how far apart two numbers are on a logarithmic scale."""
    return abs(math.log(one / other)) if other > 0 else math.inf
