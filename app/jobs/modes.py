"""Training modes, which order sampling and training, and orderings of rows: one class each, with
options and defaults.

All options are extensions; the hosted API has none.
"""

from typing import Annotated, Any, Final, Literal, assert_never

from pydantic import ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.jobs.losses import Number, OneOf, fault
from app.jobs.supervised import Auto
from app.kit.fields import DescribedModel

Count = Annotated[int, Field(strict=True)]
"""A whole number; texts, booleans and fractions are refused."""


class ModeOptions(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str

    @property
    def staleness(self) -> int:
        """Number of published versions that a rollout may be behind when it is trained."""
        return 0


class SyncOptions(ModeOptions):
    """Mode `sync`: samples a whole step, trains it, publishes it. Reproducible to the bit on a
    CPU.
    """

    type: Literal["sync"] = "sync"


class StreamingOptions(ModeOptions):
    """Mode `streaming`: gradients are computed while the step is still sampled; it stays on-
    policy.
    """

    type: Literal["streaming"] = "streaming"
    minibatches: Count = Field(default=4, ge=1, le=64)
    """Parts of a step, each trained once its groups have finished; at most one part per prompt. The
    optimizer steps once, after the last part.
    """


class AsyncOptions(ModeOptions):
    """Mode `async`: sampling continues while a step is trained, from versions at most
    `max_staleness` old.
    """

    type: Literal["async"] = "async"
    max_staleness: Count = Field(default=1, ge=1, le=4)
    """Published versions that a rollout may be behind, from its dispatch to its training."""
    max_requeues: Count = Field(default=2, ge=0, le=10)
    """Number of times a straggler prompt is requeued before the scheduler waits for it."""

    @property
    @override
    def staleness(self) -> int:
        return self.max_staleness


AnyMode = SyncOptions | StreamingOptions | AsyncOptions
TrainingMode = Annotated[
    AnyMode,
    Field(discriminator="type"),
    OneOf("mode"),
]


class OrderingOptions(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: str


class UniformOrdering(OrderingOptions):
    """Ordering `uniform`: each pass has every row once, in an order that the seed decides."""

    type: Literal["uniform"] = "uniform"


class MeasuredOrdering(OrderingOptions):
    pass_reward: Number | None = None
    """Reward from which a rollout counts as passed. Without it, the pass rate of a row is its mean
    reward, as graders from 0 to 1 give it. It must be above the lowest score of the grader, and not
    above the highest.
    """


class EasyToHardOrdering(MeasuredOrdering):
    """Ordering `easy_to_hard`: each pass has every row once, those with the highest measured pass
    rate first. Before a row was played, 1 minus its `difficulty` counts, if it is a number from 0
    to 1; rows without either are in the middle.
    """

    type: Literal["easy_to_hard"] = "easy_to_hard"


class FocusOrdering(MeasuredOrdering):
    """Ordering `focus`: steps take rows whose pass rate is between `low` and `high`, where rollouts
    of a group differ most. A part of the rows is measured anew, those first that were played
    longest ago. A pass has as many rows as under `uniform`, and not every row.
    """

    type: Literal["focus"] = "focus"
    low: Number = Field(default=0.2, ge=0, le=1)
    """Lowest pass rate of the rows that are practised."""
    high: Number = Field(default=0.8, ge=0, le=1)
    """Highest pass rate of the rows that are practised."""
    measured_share: Number = Field(default=0.25, gt=0, le=1)
    """Share of the rows of all steps together that are outside these limits, which measures them
    anew."""

    @model_validator(mode="after")
    def _limits_are_in_order(self) -> "FocusOrdering":
        if self.low >= self.high:
            raise fault("it must be below 'high'", "low")
        return self


AnyOrdering = UniformOrdering | EasyToHardOrdering | FocusOrdering
RowOrdering = Annotated[
    AnyOrdering,
    Field(discriminator="type"),
    OneOf("ordering"),
]


def trains_in_parts(mode: AnyMode | None) -> bool:
    """Returns whether a step is trained part by part, before all of its groups have finished."""
    match mode:
        case StreamingOptions():
            return True
        case SyncOptions() | AsyncOptions() | None:
            return False
        case _:
            assert_never(mode)


def trains_in_order(mode: AnyMode | None) -> bool:
    """Returns whether the order in which rollouts are trained is a function of the job alone."""
    match mode:
        case SyncOptions() | None:
            return True
        case StreamingOptions() | AsyncOptions():
            return False
        case _:
            assert_never(mode)


def resolved_mode(mode: AnyMode | None, *, batch_size: int) -> AnyMode:
    """Returns the effective mode: `sync` by default, with no more parts than prompts."""
    match mode:
        case None:
            return SyncOptions()
        case StreamingOptions():
            return StreamingOptions(minibatches=min(mode.minibatches, batch_size))
        case SyncOptions() | AsyncOptions():
            return mode
        case _:
            assert_never(mode)


def shown_mode(mode: Any, *, batch_size: int) -> dict[str, Any]:
    """Returns `resolved_mode` of a job's own JSON, as JSON."""
    sent = None if mode is None else _ModeField.model_validate({"mode": mode}).mode
    return resolved_mode(sent, batch_size=batch_size).model_dump()


class _ModeField(DescribedModel):
    mode: TrainingMode


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
    OneOf("sequence mask"),
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
