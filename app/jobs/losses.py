"""Losses of a job: one class per kind, with options, defaults, ranges and needs. The trainer has
the mathematics, since the API imports no torch.

Unknown kinds and keys are refused: a misspelt option would silently change the training. All
options are extensions; the hosted API has none.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

from pydantic import (
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import override

from app.kit.fields import DescribedModel

Number = Annotated[float, Field(strict=True)]
_MISSING: Final = "missing"


def fault(message: str, *path: str) -> ValidationError:
    own = PydanticCustomError("options", "{fault}", {"fault": message})
    kind: Any = _MISSING if message == _MISSING else own
    return ValidationError.from_exception_data(
        "Options", [{"type": kind, "loc": path, "input": None}]
    )


class LossOptions(DescribedModel):
    """What a loss is and needs; its mathematics is the file of its name in the trainer."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    rows_per_example: ClassVar[int] = 1
    """Rows that must be in one micro-batch: 1, or 2 for pairs. The denominator of a step is the
    number of trained tokens, or the number of pairs."""
    needs_vocabulary: ClassVar[bool] = False
    """Whether it reads the mean over the vocabulary."""
    uses_zero_advantage_tokens: ClassVar[bool] = False
    """Whether a token with advantage 0 has a gradient."""
    uses_ratio: ClassVar[bool] = True
    """Whether it weighs tokens by the ratio of the trained to the sampling policy."""
    bounds_ratio: ClassVar[bool] = True
    """Whether a token's weight stays bounded, however far the policies are apart."""
    uses_reference: ClassVar[bool] = False
    """Whether it compares with the model at the start, so that a pair has an implicit reward."""
    default_reasons: ClassVar[dict[str, str]] = {}
    """The reason of each numeric default, for the page of options."""

    type: str

    @property
    def resolved(self) -> Self:
        return self

    def options(self) -> dict[str, Any]:
        return self.model_dump(exclude={"type"})


class CrossEntropyOptions(LossOptions):
    """Cross-entropy of the target tokens."""

    type: Literal["cross_entropy"] = "cross_entropy"


class LabelSmoothingOptions(LossOptions):
    """Cross-entropy against targets that are smoothed over the vocabulary."""

    needs_vocabulary = True
    default_reasons: ClassVar = {"smoothing": "the Transformer (arXiv 1706.03762)"}

    type: Literal["label_smoothing"] = "label_smoothing"
    smoothing: Number = Field(default=0.1, ge=0, lt=1)
    """Share of each target that is spread evenly over the vocabulary."""


class FocalOptions(LossOptions):
    """Focal loss: tokens with a high probability weigh less."""

    default_reasons: ClassVar = {"gamma": "the paper of focal loss (arXiv 1708.02002)"}

    type: Literal["focal"] = "focal"
    gamma: Number = Field(default=2.0, ge=0, le=10)
    """Exponent that lowers the weight of tokens with a high probability; 0 is cross-entropy."""


class DpoOptions(LossOptions):
    """DPO loss of pairs; its weight is `method.dpo.hyperparameters.beta`."""

    rows_per_example = 2
    uses_reference = True
    default_reasons: ClassVar = {
        "label_smoothing": "DPO as published (arXiv 2305.18290) trusts its labels",
        "rpo_alpha": "DPO as published has no such term",
    }

    type: Literal["dpo"] = "dpo"
    variant: Literal["sigmoid", "ipo"] = "sigmoid"
    """`ipo` is the squared loss of IPO."""
    label_smoothing: Number = Field(default=0.0, ge=0, lt=0.5)
    """Assumed share of pairs with swapped labels; for `sigmoid`."""
    rpo_alpha: Number = Field(default=0.0, ge=0, le=1000)
    """Weight of the preferred answer's loss per token (RPO), which keeps it probable; usually 1."""

    @model_validator(mode="after")
    def _smoothing_has_an_effect(self) -> "DpoOptions":
        if self.variant == "ipo" and self.label_smoothing:
            raise fault("it is for the variant 'sigmoid'", "label_smoothing")
        return self


class BradleyTerryOptions(LossOptions):
    """Bradley-Terry loss of pairs: without a reference model, so that `beta` has no effect."""

    rows_per_example = 2
    default_reasons: ClassVar = {"margin": "the model of Bradley and Terry has none"}

    type: Literal["bradley_terry"] = "bradley_terry"
    margin: Number = Field(default=0.0, ge=0, le=1000)
    """Nats by which the chosen completion must be more likely."""
    length_normalised: bool = Field(default=False, strict=True)
    """Compare means over tokens, not sums."""


class ImportanceSamplingOptions(LossOptions):
    """The ratio of policies without clipping."""

    bounds_ratio = False

    type: Literal["importance_sampling"] = "importance_sampling"


class PpoOptions(LossOptions):
    """PPO: clips the ratio of policies."""

    default_reasons: ClassVar = {"epsilon": "PPO (arXiv 1707.06347)"}

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

    default_reasons: ClassVar = {
        "low": "a bound would keep a gradient on tokens that are already less probable",
        "high": "a judgement; one step rarely gets there, and no token outweighs a step",
    }

    type: Literal["cispo"] = "cispo"
    low: Number = Field(default=0.0, ge=0, le=1)
    """Lower bound of the ratio by which a token is weighted."""
    high: Number = Field(default=4.0, ge=1, le=1000)
    """Upper bound of the ratio by which a token is weighted."""


class DroOptions(LossOptions):
    """DRO: a quadratic penalty on the distance from the sampling policy instead of clipping."""

    uses_ratio = False
    uses_zero_advantage_tokens = True

    type: Literal["dro"] = "dro"
    beta: Number = Field(gt=0, le=1000)
    """Weight of the squared distance from the sampler; in published runs 0.01 to 0.05."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Chooses the class of a union by `type` by hand, so that an error has no union's tag."""

    noun: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        kinds = {get_args(m.model_fields["type"].annotation)[0]: m for m in get_args(source)}

        def read(sent: Any, _: ValidatorFunctionWrapHandler) -> Any:
            if isinstance(sent, tuple(kinds.values())):
                return sent
            if not isinstance(sent, dict):
                message = "the {noun} must be an object"
                raise PydanticCustomError("options", message, {"noun": self.noun})
            if "type" not in sent:
                raise fault(_MISSING, "type")
            kind = sent["type"]
            model = kinds.get(kind) if isinstance(kind, str) else None
            if model is None:
                known = ", ".join(kinds)
                raise fault(f"there is no {self.noun} {kind!r:.80}; there are {known}", "type")
            return model.model_validate(sent)

        return core_schema.no_info_wrap_validator_function(read, handler(source))


SupervisedLoss = Annotated[
    CrossEntropyOptions | LabelSmoothingOptions | FocalOptions,
    Field(discriminator="type"),
    OneOf("supervised loss"),
]
PreferenceLoss = Annotated[
    DpoOptions | BradleyTerryOptions, Field(discriminator="type"), OneOf("preference loss")
]
PolicyLoss = Annotated[
    ImportanceSamplingOptions | PpoOptions | CispoOptions | DroOptions,
    Field(discriminator="type"),
    OneOf("reinforcement loss"),
]
LOSSES: Final[dict[str, type[LossOptions]]] = {
    loss.model_fields["type"].default: loss
    for union in (SupervisedLoss, PreferenceLoss, PolicyLoss)
    for loss in get_args(get_args(union)[0])
}
