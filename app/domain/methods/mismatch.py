"""Mismatch options of a job: corrections for rollouts whose sampler was an older version of the
trained policy, or the same version in another engine's arithmetic.

Owns the names and defaults on the wire. All options are extensions; the hosted API has none. Must
not know how they are applied.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import (
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.methods.loss import Number, fault, one_of
from app.domain.methods.supervised import Auto

MAX_LOG_RATIO: Final = 20.0
"""Limit of log-ratios before exp (as in verl): outside ±20 the gradient is 0 instead of inf."""
CAPS: Final = {"token": 2.0, "sequence": 5.0}
"""Defaults of `cap` by level."""


class Truncation(DescribedModel):
    """Weighs each token by its ratio of trained to sampling policy, at most `cap`; the loss's own
    ratio is then relative to the policy before the step.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    level: Literal["token", "sequence"] = "token"
    """The ratio of each token, or the product over its rollout."""
    cap: Number = Field(ge=1, le=1000)
    """Default: 2 for tokens and 5 for sequences."""

    @model_validator(mode="before")
    @classmethod
    def _cap_by_level(cls, sent: Any) -> Any:
        if not isinstance(sent, dict) or "cap" in sent:
            return sent
        level = sent.get("level", "token")
        return {**sent, "cap": CAPS.get(level, 2.0) if isinstance(level, str) else 2.0}


class _SequenceMask(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    low: Number = Field(ge=0, le=1)
    """Lower end of the band."""
    high: Number = Field(ge=1, le=1e6)
    """Upper end of the band."""

    @model_validator(mode="after")
    def _band_is_one(self) -> "_SequenceMask":
        if self.low == self.high:
            raise fault("it must exceed 'low'", "high")
        return self


class GeometricMeanMask(_SequenceMask):
    """Leaves out rollouts whose ratios' geometric mean lies outside the band."""

    type: Literal["geometric_mean"] = "geometric_mean"
    low: Number = Field(default=0.99, ge=0, le=1)
    high: Number = Field(default=1.01, ge=1, le=1e6)


class ProductMask(_SequenceMask):
    """Leaves out rollouts whose ratios' product lies outside the band: by default, above 3."""

    type: Literal["product"] = "product"
    low: Number = Field(default=0.0, ge=0, le=1)
    high: Number = Field(default=3.0, ge=1, le=1e6)


SequenceMask = Annotated[
    GeometricMeanMask | ProductMask,
    Field(discriminator="type"),
    one_of(GeometricMeanMask, ProductMask, noun="sequence mask"),
]


def _read_truncation(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    """Parses by hand, so that an error has the path in the client's body, without a union's
    tags.
    """
    if sent is None or sent == "auto" or isinstance(sent, Truncation):
        return sent
    if not isinstance(sent, dict):
        raise PydanticCustomError("options", 'it must be an object, "auto" or null')
    return Truncation.model_validate(sent)


class MismatchOptions(DescribedModel):
    """Corrections for the difference between the engine that samples and the trainer."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    truncation: Annotated[Truncation | Auto | None, WrapValidator(_read_truncation)] = "auto"
    """`auto` is by token in the mode `async` when no loss is named, and none otherwise."""
    sequence_mask: SequenceMask | None = None
    """Leaves out rollouts that are too far from the trained policy; `null` leaves out none."""
    max_log_ratio: Number = Field(default=MAX_LOG_RATIO, gt=0, le=MAX_LOG_RATIO)
    """Tokens whose log-ratio is greater either way have no gradient."""
