"""Objective options of a job: the advantage estimator, and the terms added to the grader's reward.

Owns the names and defaults on the wire. All options are extensions; the hosted API has none. Must
not know how they are applied.
"""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from app.domain.documents.described import DescribedModel
from app.domain.methods.loss import Number, fault
from app.domain.methods.supervised import Auto

Count = Annotated[int, Field(strict=True)]
"""A whole number; texts, booleans and fractions are refused."""
AUTO: Final = "auto"
Flag = Annotated[bool, Field(strict=True)]
_BUFFERS_PER_LIMIT: Final = 5
"""Ratio of limit to buffer, as in DAPO: 4,096 of 20,480 tokens."""


class AdvantageOptions(DescribedModel):
    """Advantage estimator over the rewards of a prompt's rollouts.

    `centred` (the default): less the group's mean. `std`: that, divided by the group's standard
    deviation. `leave_one_out`: less the mean of the others. `batch_std`: less the group's mean,
    divided by the standard deviation of the whole step.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["centred", "std", "leave_one_out", "batch_std"]


class OverlongOptions(DescribedModel):
    """A penalty that grows over the last `buffer` of `limit` sampled tokens of a rollout."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    limit: Count = Field(ge=1, le=10**9)
    """Sampled tokens at which the penalty is complete."""
    buffer: Annotated[Count, Field(ge=1)] | Auto = AUTO
    """Tokens; `auto` is a fifth of the limit."""
    penalty: Number = Field(default=1.0, gt=0, le=100)
    """Reward lost at the limit and beyond."""

    @model_validator(mode="after")
    def _buffer_fits(self) -> "OverlongOptions":
        if self.buffer != AUTO and self.buffer > self.limit:
            raise fault("it must not exceed 'limit'", "buffer")
        return self

    @property
    def resolved(self) -> "OverlongOptions":
        buffer = self.buffer
        if buffer == AUTO:
            buffer = max(1, self.limit // _BUFFERS_PER_LIMIT)
        return self.model_copy(update={"buffer": buffer})


class ObjectiveOptions(DescribedModel):
    """Terms of the value from which advantages are computed; the displayed reward stays the
    grader's. All are off by default except a light token penalty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    token_penalty: Number = Field(default=0.02, ge=0, le=100)
    """Reward lost by a rollout of `token_budget` sampled tokens or more, and proportionally less by
    a shorter one. It is scaled down in groups with small differences of reward, so that no worse
    rollout becomes the better one.
    """
    token_budget: Annotated[Count, Field(ge=1, le=10**9)] | Auto = AUTO
    """`auto` is the base model's limit of tokens of one turn, adjusted to the job's reasoning
    effort.
    """
    call_budget: Annotated[Count, Field(ge=0, le=10**6)] | None = None
    """Tool calls that cost nothing; `null` is no budget."""
    call_budget_penalty: Number = Field(default=0.05, ge=0, le=100)
    """Per call over the budget, for at most ten."""
    repeated_call_penalty: Number = Field(default=0.0, ge=0, le=100)
    """Per call with the name and arguments of an earlier one, for at most ten."""
    overlong: OverlongOptions | None = None
    """A penalty on long rollouts; `null` is none."""
    clamp_limit_stop: Flag = False
    """A rollout that a limit stopped earns at most 0."""
    kl_coefficient: Number = Field(default=0.0, ge=0, le=100)
    """Advantage lost by a token per nat by which it is more likely under the policy than under the
    start model, relative to the other tokens of its group.
    """

    def resolved(self, *, token_budget: int) -> "ObjectiveOptions":
        return self.model_copy(
            update={
                "token_budget": token_budget if self.token_budget == AUTO else self.token_budget,
                "overlong": None if self.overlong is None else self.overlong.resolved,
            }
        )
