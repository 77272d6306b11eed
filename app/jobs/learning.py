"""What a reinforcement job learns from: loss, advantages, objective, and the check that ends a job
in which nothing can be learned. docs/decisions/learning.md explains the defaults.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from app.jobs.losses import Number, PolicyLoss, PpoOptions, fault
from app.jobs.modes import (
    CAPS,
    MismatchOptions,
    RowOrdering,
    TrainingMode,
    Truncation,
    trains_in_parts,
)
from app.jobs.response_formats import ReasoningEffort, token_budget
from app.jobs.stop_options import Count as CountLearn
from app.jobs.supervised import Auto
from app.kit.fields import DescribedModel
from app.models.models import BaseModelSpec


class NothingToLearnOptions(DescribedModel):
    """Limits of the check of the base model's validation and of the first steps.

    A job in which nothing can be learned ends early with the reason.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    action: Literal["fail", "warn", "off"] = "fail"
    """`fail` ends the job with the reason and the correction in `error`; `warn` writes an event and
    continues; `off` disables the check. A job that trained nothing at all fails in any case.
    """
    error_share: Annotated[Number, Field(gt=0, le=1)] = 0.95
    """Share of graded rollouts with the same grader error, or without any token to answer, from
    which the job ends."""
    equal_rewards: CountLearn = 64
    """Number of rollouts with equal reward from which the job ends. Fewer give a warning, unless
    the reward is the highest that the grader gives: then the job ends, since no report could show a
    gain.
    """
    untrained_groups: CountLearn = 60
    """Groups in succession from the first step on, none with different rewards, from which the job
    ends."""

    @property
    def ending_share(self) -> float | None:
        """The share of unusable validation rollouts that ends the job; `None` if the check is
        off.
        """
        return self.error_share if self.action == "fail" else None


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

    @property
    def begins(self) -> int:
        """Sampled tokens from which it costs something, of resolved options."""
        return self.limit - (0 if self.buffer == AUTO else self.buffer)


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


_LEAST_BOUNDED_STALENESS = 2
"""Smallest staleness at which a loss must bound its ratio."""


def _absent(value: Any) -> bool:
    return value is None


class LearningOptions(DescribedModel):
    """Training fields of `method.reinforcement`; other modules read the other keys."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    mode: TrainingMode | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is `sync`."""
    ordering: RowOrdering | None = Field(default=None, exclude_if=_absent)
    """An extension: which rows a step takes; `None` is `uniform`."""
    loss: PolicyLoss | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is `ppo`."""
    advantage: AdvantageOptions | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is `centred`."""
    objective: ObjectiveOptions | None = Field(default=None, exclude_if=_absent)
    """An extension; `None` is a light token penalty."""
    mismatch: MismatchOptions | None = Field(default=None, exclude_if=_absent)
    """An extension: corrections for a sampler that differs from the trained policy."""

    @property
    def truncation(self) -> Truncation | None:
        """Returns the truncation with `auto` resolved."""
        sent = "auto" if self.mismatch is None else self.mismatch.truncation
        if sent != "auto":
            return sent
        unnamed = self._staleness > 0 and self.loss is None
        return Truncation(cap=CAPS["token"]) if unnamed else None

    @property
    def _staleness(self) -> int:
        return 0 if self.mode is None else self.mode.staleness

    @model_validator(mode="after")
    def _parts_go_together(self) -> "LearningOptions":
        loss = self.loss or PpoOptions()
        if self.truncation is not None and not loss.uses_ratio:
            raise fault("the loss 'dro' has no ratio to truncate", "mismatch", "truncation")
        if (
            self._staleness >= _LEAST_BOUNDED_STALENESS
            and self.truncation is None
            and not loss.bounds_ratio
        ):
            raise fault(
                "'importance_sampling' does not bound its ratio, which the mode 'async' with a "
                "'max_staleness' above 1 needs: send 'mismatch.truncation', or 'ppo' or 'cispo'",
                "loss",
                "type",
            )
        batch_std = self.advantage is not None and self.advantage.type == "batch_std"
        if batch_std and trains_in_parts(self.mode):
            raise fault(
                "'batch_std' needs the whole step, of which 'streaming' trains parts",
                "advantage",
                "type",
            )
        return self


class Learning(DescribedModel):
    """The resolved options of a run."""

    model_config = ConfigDict(frozen=True)

    loss: PolicyLoss
    advantage: AdvantageOptions
    objective: ObjectiveOptions
    mismatch: MismatchOptions


def resolved_learning(
    sent: LearningOptions, base_model: BaseModelSpec, effort: ReasoningEffort = "default"
) -> Learning:
    """Returns the options without absent or `auto` values; resolving them again changes nothing."""
    loss = sent.loss or PpoOptions()
    mismatch = sent.mismatch or MismatchOptions()
    objective = sent.objective or ObjectiveOptions()
    return Learning(
        loss=loss.resolved,
        advantage=sent.advantage or AdvantageOptions(type="centred"),
        objective=objective.resolved(token_budget=token_budget(base_model, effort)),
        mismatch=mismatch.model_copy(update={"truncation": sent.truncation}),
    )


def shown_learning(reinforcement: dict[str, Any], base_model: BaseModelSpec) -> dict[str, Any]:
    """Returns the parts of a job's own `method.reinforcement`, resolved, as JSON."""
    sent = LearningOptions.model_validate(reinforcement)
    hyper = reinforcement.get("hyperparameters") or {}
    effort: ReasoningEffort = hyper.get("reasoning_effort", "default")
    return resolved_learning(sent, base_model, effort).model_dump(mode="json")
