"""The methods beside reinforcement: what a create call says of them, and how `auto` is resolved.

Source: the hosted API's `SupervisedHyperparameters` and `DpoHyperparameters`; the rules for `auto`
are ours but for epochs, where the hosted rule was published. Pure.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from app.domain.loss_options import (
    CrossEntropyOptions,
    DpoOptions,
    PreferenceLoss,
    SupervisedLoss,
)
from app.domain.stop_options import EndOptions, shown_end

MethodType = Literal["supervised", "dpo", "reinforcement"]
Auto = Literal["auto"]

_EPOCHS: Final = 3
_FEW_ROWS, _MOST_EPOCHS = 100, 25
_MANY_ROWS: Final = 25_000
_ROWS_PER_BATCH_EXAMPLE: Final = 500
_MAX_BATCH: Final = 256
_BETA: Final = 0.1


def _number_or_auto(value: Any) -> Any:
    """JSON's own types only: a text is no number, and neither is a truth value."""
    if isinstance(value, bool) or (isinstance(value, str) and value != "auto"):
        raise ValueError('it is a number or "auto"')
    return value


_Sent = BeforeValidator(_number_or_auto)
BatchSize = Annotated[Annotated[int, Field(ge=1, le=256)] | Auto, _Sent]
LearningRateMultiplier = Annotated[Annotated[float, Field(gt=0, le=1000)] | Auto, _Sent]
Epochs = Annotated[Annotated[int, Field(ge=1, le=50)] | Auto, _Sent]
Beta = Annotated[Annotated[float, Field(gt=0, le=2)] | Auto, _Sent]
ComputeMultiplier = Annotated[Annotated[float, Field(gt=0.00001, le=10)] | Auto, _Sent]
EvalInterval = Annotated[Annotated[int, Field(ge=1, le=2**31 - 1)] | Auto, _Sent]
EvalSamples = Annotated[Annotated[int, Field(ge=1, le=64)] | Auto, _Sent]


class SupervisedHyperparameters(BaseModel):
    """As sent: every field a value or `auto`. Unknown keys are kept and echoed."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    batch_size: BatchSize = "auto"
    learning_rate_multiplier: LearningRateMultiplier = "auto"
    n_epochs: Epochs = "auto"


class DpoHyperparameters(SupervisedHyperparameters):
    """As sent, with the weight of the distance from the base model."""

    beta: Beta = "auto"


class SupervisedMethod(EndOptions):
    """`method.supervised` of the create call; unknown keys are kept and echoed."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    hyperparameters: SupervisedHyperparameters = SupervisedHyperparameters()
    loss: SupervisedLoss | None = Field(default=None, exclude_if=lambda value: value is None)
    """Ours; `None` is cross-entropy."""


class DpoMethod(EndOptions):
    """`method.dpo` of the create call; unknown keys are kept and echoed."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    hyperparameters: DpoHyperparameters = DpoHyperparameters()
    loss: PreferenceLoss | None = Field(default=None, exclude_if=lambda value: value is None)
    """Ours; `None` is DPO as published."""


def automatic_values(kind: Literal["supervised", "dpo"], train_rows: int) -> dict[str, float]:
    """What `auto` stands for, once the rows are counted.

    - `batch_size`: one example for every 500 rows, between 1 and 256.
    - `n_epochs`: 3; of fewer than 34 rows enough for 100 examples, at most 25; of more than 8,333
      rows as many as stay below 25,000 examples, at least 1. Source: the hosted vendor's
      data-preparation guide.
    - `learning_rate_multiplier`: 1.
    - `beta` (DPO): 0.1.
    """
    epochs = _EPOCHS
    if train_rows * _EPOCHS < _FEW_ROWS:
        epochs = min(_MOST_EPOCHS, _FEW_ROWS // max(1, train_rows))
    elif train_rows * _EPOCHS > _MANY_ROWS:
        epochs = max(1, _MANY_ROWS // train_rows)
    values: dict[str, float] = {
        "batch_size": min(_MAX_BATCH, max(1, round(train_rows / _ROWS_PER_BATCH_EXAMPLE))),
        "learning_rate_multiplier": 1.0,
        "n_epochs": epochs,
    }
    return {**values, "beta": _BETA} if kind == "dpo" else values


def default_loss(kind: Literal["supervised", "dpo"]) -> CrossEntropyOptions | DpoOptions:
    """What an absent `loss` stands for."""
    return CrossEntropyOptions() if kind == "supervised" else DpoOptions()


def resolved(
    method: dict[str, Any], kind: Literal["supervised", "dpo"], train_rows: int
) -> dict[str, Any]:
    """A job's `method` with every `auto` replaced by its number, and the loss named."""
    inner = dict(method.get(kind) or {})
    sent = dict(inner.get("hyperparameters") or {})
    automatic = {
        name: value
        for name, value in automatic_values(kind, train_rows).items()
        if sent.get(name, "auto") == "auto"
    }
    loss = inner.get("loss") or default_loss(kind).model_dump()
    shown = {"hyperparameters": {**sent, **automatic}, "loss": loss, **shown_end(inner)}
    return {**method, kind: {**inner, **shown}}
