"""A reinforcement job learns by modes, orderings, advantages, objective, corrections, and
the check that something can be learned. docs/decisions/learning.md explains the defaults.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.jobs.losses import Number, OneOf, PolicyLoss, PpoOptions, fault
from app.jobs.response_formats import ReasoningEffort, token_budget
from app.jobs.stop_options import Count as CountLearn
from app.jobs.supervised import Auto
from app.kit.fields import DescribedModel
from app.models.models import BaseModelSpec

Count = Annotated[int, Field(strict=True)]


class ModeOptions(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str

    @property
    def staleness(self) -> int:
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
TrainingMode = Annotated[AnyMode, Field(discriminator="type"), OneOf("mode")]


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
RowOrdering = Annotated[AnyOrdering, Field(discriminator="type"), OneOf("ordering")]


def trains_in_parts(mode: AnyMode | None) -> bool:
    return isinstance(mode, StreamingOptions)


def trains_in_order(mode: AnyMode | None) -> bool:
    return mode is None or isinstance(mode, SyncOptions)


def resolved_mode(mode: AnyMode | None, *, batch_size: int) -> AnyMode:
    if isinstance(mode, StreamingOptions):
        return StreamingOptions(minibatches=min(mode.minibatches, batch_size))
    return SyncOptions() if mode is None else mode


def shown_mode(mode: Any, *, batch_size: int) -> dict[str, Any]:
    sent = None if mode is None else _ModeField.model_validate({"mode": mode}).mode
    return resolved_mode(sent, batch_size=batch_size).model_dump()


class _ModeField(DescribedModel):
    mode: TrainingMode


MAX_LOG_RATIO: Final = 20.0
"""Limit of log-ratios before exp (as in verl): outside ±20 the gradient is 0 instead of inf."""
CAPS: Final = {"token": 2.0, "sequence": 5.0}


class Truncation(DescribedModel):
    """Weighs each token by its ratio of trained to sampling policy, at most `cap`; the loss's own
    ratio is then relative to the policy before the step.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    level: Literal["token", "sequence"] = "token"
    """The ratio of each token, or the product over its row: a rollout, or a part of one whose
    earlier turns the chat template renders anew."""
    cap: Number = Field(ge=1, le=1000)
    """Default: 2 for tokens and 5 for sequences."""

    @model_validator(mode="before")
    @classmethod
    def _cap_by_level(cls, sent: Any) -> Any:
        if not isinstance(sent, dict) or "cap" in sent:
            return sent
        level = sent.get("level", "token")
        return {**sent, "cap": CAPS.get(level, 2.0) if isinstance(level, str) else 2.0}


_Low = Annotated[Number, Field(ge=0, le=1)]
_High = Annotated[Number, Field(ge=1, le=1e6)]


class GeometricMeanMask(DescribedModel):
    """Leaves out rollouts whose ratios' geometric mean lies outside the band."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["geometric_mean"] = "geometric_mean"
    low: _Low | Auto = "auto"
    """Lower end of the band; `auto` is 0.99, and 0.5 in the mode `async`."""
    high: _High | Auto = "auto"
    """Upper end of the band; `auto` is 1.01, and 2 in the mode `async`."""

    @model_validator(mode="after")
    def _band_is_one(self) -> "GeometricMeanMask":
        if self.low == self.high == 1:
            raise fault("it must exceed 'low'", "high")
        return self

    def resolved(self, *, stale: bool) -> "GeometricMeanMask":
        """The narrow band is for engine noise; every rollout of an older version is outside it."""
        low, high = (0.5, 2.0) if stale else (0.99, 1.01)
        return GeometricMeanMask(
            low=low if self.low == "auto" else self.low,
            high=high if self.high == "auto" else self.high,
        )


class ProductMask(DescribedModel):
    """Leaves out rollouts whose ratios' product lies outside the band: by default, above 3."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["product"] = "product"
    low: _Low = 0.0
    """Lower end of the band."""
    high: _High = 3.0
    """Upper end of the band."""

    @model_validator(mode="after")
    def _band_is_one(self) -> "ProductMask":
        if self.low == self.high:
            raise fault("it must exceed 'low'", "high")
        return self


SequenceMask = Annotated[
    GeometricMeanMask | ProductMask, Field(discriminator="type"), OneOf("sequence mask")
]


def _read_truncation(sent: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ARG001 - the signature of a pydantic wrap validator
    if sent is None or sent == "auto" or isinstance(sent, Truncation):
        return sent
    if not isinstance(sent, dict):
        raise PydanticCustomError("options", 'it must be an object, "auto" or null')
    return Truncation.model_validate(sent)


class MismatchOptions(DescribedModel):
    """Corrections for the difference between the engine that samples and the trainer."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    truncation: Annotated[Truncation | Auto | None, WrapValidator(_read_truncation)] = "auto"
    """`auto` is by token in the mode `async` for a loss with a ratio, and none otherwise."""
    sequence_mask: SequenceMask | None = None
    """Leaves out rollouts that are too far from the trained policy; `null` leaves out none."""
    max_log_ratio: Number = Field(default=MAX_LOG_RATIO, gt=0, le=MAX_LOG_RATIO)
    """Tokens whose log-ratio is greater either way have no gradient."""


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
    """Number of graded rollouts from which the job ends if all have the same reward. Fewer give a
    warning, unless nearly all have the highest that the grader gives: then the job ends, since no
    report could show a gain.
    """
    equal_share: Annotated[Number, Field(gt=0.5, le=1)] = 0.98
    """Share of the graded rollouts with the same reward from which nearly all have it: a warning,
    since a model that is right now and then can learn."""
    untrained_groups: CountLearn = 60
    """Groups in succession from the first step on, none with different rewards, from which the job
    ends."""

    @property
    def ending_share(self) -> float | None:
        return self.error_share if self.action == "fail" else None


AUTO: Final = "auto"
TOKEN_PENALTY: Final = 0.02
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
        return self.limit - (0 if self.buffer == AUTO else self.buffer)


class ObjectiveOptions(DescribedModel):
    """Terms of the value from which advantages are computed; the displayed reward stays the
    grader's. All are off by default except a light token penalty.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    token_penalty: Annotated[Number, Field(ge=0, le=100)] | Auto = AUTO
    """Reward lost by a rollout of `token_budget` sampled tokens or more, and proportionally less by
    a shorter one. It is scaled down in groups with small differences of reward, so that no worse
    rollout becomes the better one, and none that is better than its group's mean becomes worse.
    `auto` is 0.02, and 0 where an `ai_judge` compares the rollouts of a group.
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

    def resolved(self, *, token_budget: int, token_penalty: float) -> "ObjectiveOptions":
        penalty = token_penalty if self.token_penalty == AUTO else self.token_penalty
        return self.model_copy(
            update={
                "token_penalty": penalty,
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
        sent = "auto" if self.mismatch is None else self.mismatch.truncation
        if sent != "auto":
            return sent
        corrects = self._staleness > 0 and self._loss.uses_ratio
        return Truncation(cap=CAPS["token"]) if corrects else None

    @property
    def trains_on_policy(self) -> bool:
        """True if the ratio of the loss starts from the policy before the step, apart from what the
        engine rounds: the rollouts are its own, or truncation corrects those that are not.
        """
        return self._staleness == 0 or self.truncation is not None

    @property
    def sequence_mask(self) -> GeometricMeanMask | ProductMask | None:
        mask = None if self.mismatch is None else self.mismatch.sequence_mask
        if isinstance(mask, GeometricMeanMask):
            return mask.resolved(stale=self._staleness > 0)
        return mask

    @property
    def judges_groups(self) -> bool:
        """True if a grader scores the rollouts of a group against each other."""
        return False

    @property
    def _staleness(self) -> int:
        return 0 if self.mode is None else self.mode.staleness

    @property
    def _loss(self) -> PolicyLoss:
        return self.loss or PpoOptions()

    @model_validator(mode="after")
    def _parts_go_together(self) -> "LearningOptions":
        loss = self._loss
        if self.truncation is not None and not loss.uses_ratio:
            raise fault("the loss 'dro' has no ratio to truncate", "mismatch", "truncation")
        if (
            self._staleness >= _LEAST_BOUNDED_STALENESS
            and self.truncation is None
            and not loss.bounds_ratio
        ):
            raise fault(
                "'importance_sampling' does not bound its ratio, which the mode 'async' with a "
                "'max_staleness' above 1 needs: leave out 'mismatch.truncation', or send 'ppo' or "
                "'cispo'",
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
    mismatch = sent.mismatch or MismatchOptions()
    objective = sent.objective or ObjectiveOptions()
    return Learning(
        loss=(sent.loss or PpoOptions()).resolved,
        advantage=sent.advantage or AdvantageOptions(type="centred"),
        objective=objective.resolved(
            token_budget=token_budget(base_model, effort),
            token_penalty=0.0 if sent.judges_groups else TOKEN_PENALTY,
        ),
        mismatch=mismatch.model_copy(
            update={"truncation": sent.truncation, "sequence_mask": sent.sequence_mask}
        ),
    )


def shown_learning(
    reinforcement: dict[str, Any],
    base_model: BaseModelSpec,
    *,
    model: type[LearningOptions] = LearningOptions,
) -> dict[str, Any]:
    sent = model.model_validate(reinforcement)
    hyper = reinforcement.get("hyperparameters") or {}
    effort: ReasoningEffort = hyper.get("reasoning_effort", "default")
    return resolved_learning(sent, base_model, effort).model_dump(mode="json")
