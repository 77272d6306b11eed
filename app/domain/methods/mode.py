"""Training modes, which order sampling and training, and orderings of rows: one class each, with
options and defaults.

Owns the names on the wire, `method.reinforcement.mode` and `method.reinforcement.ordering`. All
options are extensions; the hosted API has none. Must not know how a mode or an ordering works.
"""

from typing import Annotated, Any, Literal, assert_never

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import override

from app.domain.documents.field_descriptions import DescribedModel
from app.domain.methods.loss import Number, fault, one_of

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
    one_of(SyncOptions, StreamingOptions, AsyncOptions, noun="mode"),
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
    one_of(UniformOrdering, EasyToHardOrdering, FocusOrdering, noun="ordering"),
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
