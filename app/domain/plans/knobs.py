"""The knobs of an improvement plan: their names, positions and defaults on the wire.

Must not know which hyperparameters a knob sets; `scales.py` and `settings.py` do.
"""

from typing import Annotated, Final, Literal, assert_never, get_args

from pydantic import ConfigDict, Field

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.errors import missing_parameter, refused_value
from app.domain.methods.stop import Action
from app.domain.methods.supervised import MethodType

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
    match kind:
        case "reinforcement":
            position = 50 if knobs.creativity is None else knobs.creativity
            return knobs.model_copy(update={"creativity": position})
        case "supervised" | "dpo":
            if knobs.creativity is not None:
                reason = f"a job of the method '{kind}' samples no answers; leave it out"
                raise refused_value(f"{PARAM}.creativity", reason)
            return knobs
        case _:
            assert_never(kind)
