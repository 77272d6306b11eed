"""Loss options of a job: one class per kind, with defaults and ranges.

Unknown kinds and keys are refused with their path, because a misspelt option would silently change
the training. All options are extensions; the hosted API has none.
"""

from typing import Annotated, Any, Final, Literal, Self, assert_never, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.kit.fields import DescribedModel

Number = Annotated[float, Field(strict=True)]
"""A number; texts and booleans are refused."""
_MISSING: Final = "missing"


def fault(message: str, *path: str) -> ValidationError:
    """Returns an error at a path below the object, for validators of the whole object."""
    own = PydanticCustomError("options", "{fault}", {"fault": message})
    kind: Any = _MISSING if message == _MISSING else own
    return ValidationError.from_exception_data(
        "Options", [{"type": kind, "loc": path, "input": None}]
    )


class LossOptions(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: str

    @property
    def resolved(self) -> Self:
        """The same loss with the defaults of absent options."""
        return self

    def options(self) -> dict[str, Any]:
        return self.model_dump(exclude={"type"})


class CrossEntropyOptions(LossOptions):
    """Cross-entropy of the target tokens."""

    type: Literal["cross_entropy"] = "cross_entropy"


class LabelSmoothingOptions(LossOptions):
    """Cross-entropy against targets that are smoothed over the vocabulary."""

    type: Literal["label_smoothing"] = "label_smoothing"
    smoothing: Number = Field(default=0.1, ge=0, lt=1)
    """Share of each target that is spread evenly over the vocabulary."""


class FocalOptions(LossOptions):
    """Focal loss: tokens with a high probability weigh less."""

    type: Literal["focal"] = "focal"
    gamma: Number = Field(default=2.0, ge=0, le=10)
    """Exponent that lowers the weight of tokens with a high probability; 0 is cross-entropy."""


class DpoOptions(LossOptions):
    """DPO loss of pairs; its weight is `method.dpo.hyperparameters.beta`."""

    type: Literal["dpo"] = "dpo"
    variant: Literal["sigmoid", "ipo"] = "sigmoid"
    """`ipo` is the squared loss of IPO."""
    label_smoothing: Number = Field(default=0.0, ge=0, lt=0.5)
    """Assumed share of pairs with swapped labels; for `sigmoid`."""

    @model_validator(mode="after")
    def _smoothing_has_an_effect(self) -> "DpoOptions":
        if self.variant == "ipo" and self.label_smoothing:
            raise fault("it is for the variant 'sigmoid'", "label_smoothing")
        return self


class BradleyTerryOptions(LossOptions):
    """Bradley-Terry loss of pairs: without a reference model, so that `beta` has no effect."""

    type: Literal["bradley_terry"] = "bradley_terry"
    margin: Number = Field(default=0.0, ge=0, le=1000)
    """Nats by which the chosen completion must be more likely."""
    length_normalised: bool = Field(default=False, strict=True)
    """Compare means over tokens, not sums."""


class ImportanceSamplingOptions(LossOptions):
    """The ratio of policies without clipping."""

    type: Literal["importance_sampling"] = "importance_sampling"


class PpoOptions(LossOptions):
    """PPO: clips the ratio of policies."""

    type: Literal["ppo"] = "ppo"
    epsilon: Number = Field(default=0.2, gt=0, lt=1)
    """Largest distance of a token's ratio from 1 at which it still has a gradient."""
    epsilon_high: Number | None = Field(default=None, gt=0, le=100)
    """The same limit for ratios above 1, if it differs; 0.28 is "clip higher"."""
    dual_clip: Number | None = Field(default=None, gt=1, le=1000)
    """Ratio beyond which a token of negative advantage has no gradient either; usually 3."""

    @property
    @override
    def resolved(self) -> Self:
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        return self.model_copy(update={"epsilon_high": high})


class CispoOptions(LossOptions):
    """CISPO: clips the weight of each token and keeps its gradient."""

    type: Literal["cispo"] = "cispo"
    low: Number = Field(default=0.0, ge=0, le=1)
    """Lower bound of the ratio by which a token is weighted."""
    high: Number = Field(default=4.0, ge=1, le=1000)
    """Upper bound of the ratio by which a token is weighted."""


class DroOptions(LossOptions):
    """DRO: a quadratic penalty on the distance from the sampling policy instead of clipping."""

    type: Literal["dro"] = "dro"
    beta: Number = Field(gt=0, le=1000)
    """Weight of the squared distance from the sampler; in published runs 0.01 to 0.05."""


def one_of(*models: type[BaseModel], noun: str) -> WrapValidator:
    """Chooses the class by `type` and by hand, so that an error has the path in the client's body,
    without a union's tags.
    """
    kinds = {get_args(model.model_fields["type"].annotation)[0]: model for model in models}

    def read(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
        if isinstance(sent, models):
            return sent
        if not isinstance(sent, dict):
            raise PydanticCustomError("options", "the {noun} must be an object", {"noun": noun})
        if "type" not in sent:
            raise fault(_MISSING, "type")
        kind = sent["type"]
        model = kinds.get(kind) if isinstance(kind, str) else None
        if model is None:
            known = ", ".join(kinds)
            raise fault(f"there is no {noun} {kind!r:.80}; there are {known}", "type")
        return model.model_validate(sent)

    return WrapValidator(read)


SupervisedLoss = Annotated[
    CrossEntropyOptions | LabelSmoothingOptions | FocalOptions,
    Field(discriminator="type"),
    one_of(CrossEntropyOptions, LabelSmoothingOptions, FocalOptions, noun="supervised loss"),
]
PreferenceLoss = Annotated[
    DpoOptions | BradleyTerryOptions,
    Field(discriminator="type"),
    one_of(DpoOptions, BradleyTerryOptions, noun="preference loss"),
]
PolicyLoss = Annotated[
    ImportanceSamplingOptions | PpoOptions | CispoOptions | DroOptions,
    Field(discriminator="type"),
    one_of(
        ImportanceSamplingOptions, PpoOptions, CispoOptions, DroOptions, noun="reinforcement loss"
    ),
]


def uses_ratio(loss: PolicyLoss | None) -> bool:
    """Returns whether a loss weighs tokens by the ratio of the trained to the sampling policy."""
    match loss:
        case DroOptions():
            return False
        case ImportanceSamplingOptions() | PpoOptions() | CispoOptions() | None:
            return True
        case _:
            assert_never(loss)


def bounds_ratio(loss: PolicyLoss | None) -> bool:
    """Returns whether a token's weight stays bounded, however far the policies are apart."""
    match loss:
        case ImportanceSamplingOptions():
            return False
        case PpoOptions() | CispoOptions() | DroOptions() | None:
            return True
        case _:
            assert_never(loss)


def has_implicit_reward(loss: PreferenceLoss | None) -> bool:
    """Returns whether a loss compares with a reference model, for an implicit reward of pairs."""
    match loss:
        case BradleyTerryOptions():
            return False
        case DpoOptions() | None:
            return True
        case _:
            assert_never(loss)
