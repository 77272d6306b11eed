"""Training modes, which order sampling and training: one class each, with options and defaults.

Owns the names on the wire, `method.reinforcement.mode`. All options are extensions; the hosted API
has none. Must not know how a mode works.
"""

from typing import Annotated, Any, Literal, assert_never

from pydantic import ConfigDict, Field
from typing_extensions import override

from app.domain.documents.described import DescribedModel
from app.domain.methods.loss import one_of

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
