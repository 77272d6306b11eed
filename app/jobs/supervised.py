"""The supervised and DPO methods: the options of a create call, and the values `auto` resolves to.

Source: the hosted API's shapes; the rules for `auto` are ours, except the published one for epochs.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, assert_never

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from app.jobs.losses import CrossEntropyOptions, DpoOptions, PreferenceLoss, SupervisedLoss, fault
from app.jobs.stop_options import (
    ChosenRewardRule,
    EndOptions,
    PreferenceStopOptions,
    is_unset,
    shown_end,
)
from app.kit.fields import DescribedModel, OpenKeys
from app.models.models import BaseModelSpec

MethodType = Literal["supervised", "dpo", "reinforcement"]
OfflineMethodType = Literal["supervised", "dpo"]
"""Methods that train on the texts of files, without sampling."""
Auto = Literal["auto"]

TrainOn = Literal["all", "last"]
"""Selection of assistant turns to train; a turn of weight 0 never is."""

HOSTED_HYPERPARAMETERS: Final = frozenset(
    {
        "batch_size",
        "beta",
        "compute_multiplier",
        "eval_interval",
        "eval_samples",
        "learning_rate_multiplier",
        "n_epochs",
        "reasoning_effort",
    }
)
"""Every hyperparameter of the hosted API. A hyperparameter of another method is accepted with a
warning, so that a script may use one set for all methods; any other unknown one is refused.
"""

_EPOCHS: Final = 3
_FEW_ROWS, _MOST_EPOCHS = 100, 25
_MANY_ROWS: Final = 25_000
_ROWS_PER_BATCH_EXAMPLE: Final = 500
_FEWEST_STEPS: Final = 8
_USUAL_BATCH: Final[dict[str, int]] = {"supervised": 16, "dpo": 32}
_MAX_BATCH: Final = 256
_BETA: Final = 0.1


def a_number(value: Any) -> Any:
    if isinstance(value, (bool, str)):
        raise ValueError("it must be a number")  # noqa: TRY004 - pydantic does not convert a TypeError
    return value


def _number_or_auto(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, str) and value != "auto"):
        raise ValueError('it must be a number or "auto"')
    return value


_Sent = BeforeValidator(_number_or_auto)
BatchSize = Annotated[Annotated[int, Field(ge=1, le=256)] | Auto, _Sent]
LearningRateMultiplier = Annotated[Annotated[float, Field(gt=0, le=1000)] | Auto, _Sent]
Epochs = Annotated[Annotated[int, Field(ge=1, le=50)] | Auto, _Sent]
Beta = Annotated[Annotated[float, Field(gt=0, le=2)] | Auto, _Sent]
ComputeMultiplier = Annotated[Annotated[float, Field(gt=0.00001, le=10)] | Auto, _Sent]
EvalInterval = Annotated[Annotated[int, Field(ge=1, le=2**31 - 1)] | Auto, _Sent]
EvalSamples = Annotated[Annotated[int, Field(ge=1, le=64)] | Auto, _Sent]
EvalTemperature = Annotated[Annotated[float, Field(ge=0, le=2)] | Auto, _Sent]


class SupervisedHyperparameters(OpenKeys, DescribedModel):
    """Hyperparameters of a supervised job; every field has a value or `auto`."""

    accepted_keys: ClassVar[frozenset[str] | None] = HOSTED_HYPERPARAMETERS
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    batch_size: BatchSize = "auto"
    """Examples per optimizer step."""
    learning_rate_multiplier: LearningRateMultiplier = "auto"
    """Factor on the base model's own learning rate."""
    n_epochs: Epochs = "auto"
    """Times that the training file is used."""


class DpoHyperparameters(SupervisedHyperparameters):
    """Hyperparameters of a preference job: those of a supervised one and `beta`."""

    beta: Beta = "auto"
    """Weight of the distance from the base model."""


class SupervisedMethod(EndOptions):
    """Settings of a supervised job."""

    kind: ClassVar[Literal["supervised"]] = "supervised"
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    hyperparameters: SupervisedHyperparameters = SupervisedHyperparameters()
    """Sizes and rates."""
    loss: SupervisedLoss | None = Field(default=None, exclude_if=lambda value: value is None)
    """Extension of this project; `None` is cross-entropy."""
    train_on: TrainOn | None = Field(default=None, exclude_if=lambda value: value is None)
    """Extension of this project; `None` is `all`."""


class DpoMethod(EndOptions):
    """Settings of a preference job (DPO)."""

    kind: ClassVar[Literal["dpo"]] = "dpo"
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    hyperparameters: DpoHyperparameters = DpoHyperparameters()
    """Sizes and rates."""
    loss: PreferenceLoss | None = Field(default=None, exclude_if=lambda value: value is None)
    """Extension of this project; `None` is DPO as published."""
    stop: PreferenceStopOptions | None = Field(default=None, exclude_if=is_unset)
    """Rules that warn, pause the job or end it early (an extension)."""

    @property
    def _loss(self) -> PreferenceLoss:
        return self.loss or DpoOptions()

    @property
    def rules(self) -> PreferenceStopOptions:
        """The rules of the job. A loss without a reference model has no implicit reward, so the
        rule about it is off.
        """
        sent = self.stop or PreferenceStopOptions()
        if self._loss.uses_reference:
            return sent
        return sent.model_copy(update={"chosen_reward": ChosenRewardRule(action="off")})

    @model_validator(mode="after")
    def _rule_has_its_curve(self) -> "DpoMethod":
        rule = None if self.stop is None else self.stop.chosen_reward
        sent = self.stop is not None and "chosen_reward" in self.stop.model_fields_set
        is_on = sent and rule is not None and rule.action != "off"
        if is_on and not self._loss.uses_reference:
            raise fault(
                "the loss 'bradley_terry' compares with no reference model, so its pairs have no "
                "implicit reward: send the action 'off' or the loss 'dpo'",
                "stop",
                "chosen_reward",
            )
        return self


def automatic_values(kind: OfflineMethodType, train_rows: int) -> dict[str, float]:
    """Returns the values of `auto` for a number of rows.

    - `batch_size`: 16 examples (QLoRA), or 32 pairs (Zephyr); fewer for a file that would have less
      than 8 steps in an epoch, and one example for every 500 rows of a large one, at most 256.
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
    of_many = round(train_rows / _ROWS_PER_BATCH_EXAMPLE)
    of_few = min(_USUAL_BATCH[kind], train_rows // _FEWEST_STEPS)
    values: dict[str, float] = {
        "batch_size": min(_MAX_BATCH, max(1, of_few, of_many)),
        "learning_rate_multiplier": 1.0,
        "n_epochs": epochs,
    }
    return values if kind == "supervised" else {**values, "beta": _BETA}


def resolved_options(
    options: dict[str, Any], kind: OfflineMethodType, train_rows: int
) -> dict[str, Any]:
    sent = dict(options.get("hyperparameters") or {})
    automatic = {
        name: value
        for name, value in automatic_values(kind, train_rows).items()
        if sent.get(name, "auto") == "auto"
    }
    shown: dict[str, Any] = {"hyperparameters": {**sent, **automatic}}
    match kind:
        case "supervised":
            shown["loss"] = options.get("loss") or CrossEntropyOptions().model_dump()
            shown |= shown_end(options)
            shown["train_on"] = options.get("train_on") or "all"
        case "dpo":
            shown["loss"] = options.get("loss") or DpoOptions().model_dump()
            shown |= shown_end(options, PreferenceStopOptions)
            rules = DpoMethod.model_validate(options).rules
            shown["stop"] = rules.model_dump(mode="json")
        case _:
            assert_never(kind)
    return {**options, **shown}


@dataclass(frozen=True, slots=True)
class ResolvedSupervisedHyperparameters:
    batch_size: int
    n_epochs: int
    learning_rate: float
    """Constant over all steps."""
    beta: float
    steps_per_epoch: int

    @property
    def total_steps(self) -> int:
        return self.steps_per_epoch * self.n_epochs


def resolve_supervised_hyperparameters(
    method: SupervisedMethod | DpoMethod, *, train_rows: int, base_model: BaseModelSpec
) -> ResolvedSupervisedHyperparameters:
    sent = method.hyperparameters.model_dump()
    values = automatic_values(method.kind, train_rows)
    values |= {name: sent[name] for name in values if sent[name] != "auto"}
    batch_size = min(int(values["batch_size"]), train_rows)
    return ResolvedSupervisedHyperparameters(
        batch_size=batch_size,
        n_epochs=int(values["n_epochs"]),
        learning_rate=base_model.rate_of(method.kind) * values["learning_rate_multiplier"],
        beta=values.get("beta", _BETA),
        steps_per_epoch=-(-train_rows // batch_size),
    )
