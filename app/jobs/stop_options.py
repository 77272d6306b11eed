"""Stop rules of a job: the conditions that warn about it, pause it or end it before its last step.

All rules are extensions; the hosted API has none.

Every rule has an `action`: `off`, `warn` (an event), `pause` (the job can be resumed) or `stop`
(the job succeeds with its best checkpoint). Rules that need a value from the customer are off until
it is sent, and then stop the job; the others only warn by default.
"""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field
from typing_extensions import override

from app.jobs.losses import Number
from app.kit.fields import DescribedModel
from app.rollouts import metrics as names

Action = Literal["off", "warn", "pause", "stop"]
Count = Annotated[int, Field(strict=True, ge=1, le=10**6)]
Share = Annotated[Number, Field(gt=0, le=1)]
_ANY: Final[frozenset[Action]] = frozenset({"warn", "pause", "stop"})
_WARNING: Final[frozenset[Action]] = frozenset({"warn"})
_FEWEST_CALLS: Final = 0.1
"""Smallest number of tool calls per rollout in the first steps for which a collapse is detected."""


class Rule(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    moot_when_solved: ClassVar[frozenset[Action]] = frozenset()
    """Actions that are not taken while validation earns the highest reward."""

    action: Action = "warn"
    """The effect of the rule: none, an event, a pause, or the end with the best checkpoint."""


class StreakRule(Rule):
    """Holds while a training curve has been out of bounds in `steps` steps in succession."""

    if TYPE_CHECKING:  # a subclass has it after its own fields
        steps: int
    curve: ClassVar[str]
    words: ClassVar[str]
    """Text of the reason, with `value` and `rule`."""
    bound: ClassVar[str] = "share"
    """Name of the field with the bound."""
    is_lowest: ClassVar[bool] = False
    """True if values below the bound are out of bounds, not those that reach it."""

    def holds(self, value: float) -> bool:
        bound: float = getattr(self, self.bound)
        return value < bound if self.is_lowest else value >= bound


class DriftRule(Rule):
    """Holds while the mean of a curve over the latest `steps` is too far from that of the first."""

    if TYPE_CHECKING:  # a subclass has it after its own fields
        steps: int
    curve: ClassVar[str]
    words: ClassVar[str]
    """Text of the reason, with the means `now` and `before`."""

    def holds(self, before: float, now: float) -> bool:
        raise NotImplementedError


class PlateauRule(Rule):
    """Validation has not improved for a while; the base model's validation counts too."""

    moot_when_solved = _WARNING

    evaluations: Count = 3
    """Validations in succession without a new best."""
    min_improvement: Number = Field(default=0.01, ge=0)
    """Smallest improvement that counts as a new best, in the metric's own unit."""


class TargetRule(Rule):
    """Ends the job when validation has reached a target."""

    action: Action = "stop"
    value: Number
    """Smallest mean validation reward, or largest validation loss."""


class MaxStepsRule(Rule):
    """Ends the job after a number of steps."""

    action: Action = "stop"
    steps: Count
    """Steps after which the job ends."""


class MaxTimeRule(Rule):
    """Ends the job after a time of training."""

    action: Action = "stop"
    seconds: Number = Field(ge=1.0, le=1e9)
    """Time of committed steps, with publishing and validation, without waiting and restarts."""


class GapRule(Rule):
    """Training has diverged from validation: the policy has memorised rows, or exploits the
    grader.
    """

    threshold: Number = Field(default=0.2, gt=0)
    """Smallest gap that counts: the mean training value since the previous validation minus the
    validation's mean.
    """
    evaluations: Count = 2
    """Validations in succession with such a gap, beyond the error of the validation."""


class TokenGrowthRule(DriftRule):
    """Rollouts become longer and longer."""

    curve = names.COMPLETION_TOKENS_MEAN
    words = "rollouts write {now:.0f} tokens, {before:.0f}"

    ratio: Number = Field(default=2.0, gt=1, le=1000)
    """Mean completion tokens of the latest `steps` steps against those of the first."""
    steps: Count = 5
    """Length of both windows."""

    @override
    def holds(self, before: float, now: float) -> bool:
        return now >= self.ratio * before


class EntropyRule(DriftRule):
    """The policy has stopped exploring, although validation could still earn more."""

    curve = names.ENTROPY
    words = "entropy is {now:.3g} nats a token, {before:.3g}"
    moot_when_solved = _ANY

    share: Share = 0.1
    """Largest ratio of the mean entropy of the latest `steps` trained steps to that of the first.
    """
    steps: Count = 5
    """Length of both windows."""

    @override
    def holds(self, before: float, now: float) -> bool:
        return before > 0 and now <= self.share * before


class MaskedTokensRule(StreakRule):
    """`mismatch` leaves out much of what was sampled, so that little of it trains."""

    curve = names.MASKED_SHARE
    words = "'mismatch' left out {value:.0%} of the tokens to train, at least {rule.share:.0%}"

    share: Share = 0.3
    """Smallest share of a step's trained tokens."""
    steps: Count = 3
    """Number of steps in succession."""


class NeverEarnedRule(Rule):
    """A part of the reward, or the rows of a tag, have been at the worst value in every rollout."""

    moot_when_solved = _ANY

    steps: Count = 5
    """Steps with rollouts of the part or tag, from the first one on."""


class SolvedRule(Rule):
    """Validation earns the highest reward: what still looks like a collapse is a solved task."""


class ZeroVarianceRule(Rule):
    """No group has rollouts of different reward, so that none of them trains."""

    moot_when_solved = _WARNING

    steps: Count = 5
    """Number of steps in succession."""


class EntropyRiseRule(DriftRule):
    """The policy becomes random: its text turns into a mixture of the vocabulary."""

    curve = names.ENTROPY
    words = "entropy is {now:.3g} nats a token, {before:.3g}"

    ratio: Number = Field(default=3.0, gt=1, le=1000)
    """Mean entropy of the latest `steps` steps against that of the first."""
    min_rise: Number = Field(default=0.5, ge=0, le=100)
    """Smallest rise in nats per token."""
    steps: Count = 3
    """Length of both windows."""

    @override
    def holds(self, before: float, now: float) -> bool:
        return now >= self.ratio * before and now - before >= self.min_rise


class LimitStopsRule(StreakRule):
    """Rollouts end at a limit instead of with an answer."""

    curve = names.LIMIT_STOP_SHARE
    words = "{value:.0%} of the rollouts ended at a limit, at least {rule.share:.0%}"

    share: Share = 0.5
    """Smallest share of a step's rollouts."""
    steps: Count = 3
    """Number of steps in succession."""


class ToolCallCollapseRule(DriftRule):
    """The policy has stopped calling its tools."""

    curve = names.TOOL_CALLS_MEAN
    words = "rollouts make {now:.3g} tool calls, {before:.3g}"

    share: Share = 0.1
    """Largest ratio of the mean calls of the latest `steps` steps to those of the first."""
    steps: Count = 3
    """Length of both windows."""

    @override
    def holds(self, before: float, now: float) -> bool:
        return before >= _FEWEST_CALLS and now <= self.share * before


class GraderErrorsRule(StreakRule):
    """Grades carry an error flag, or the grader fails."""

    curve = names.GRADER_ERROR_SHARE
    words = (
        "the grader failed or flagged an error in {value:.0%} of the rollouts, "
        "at least {rule.share:.0%}"
    )

    share: Share = 0.1
    """Smallest share of a step's rollouts."""
    steps: Count = 3
    """Number of steps in succession."""


class ParseErrorsRule(StreakRule):
    """The policy writes tool calls that cannot be parsed."""

    curve = names.TOOL_PARSE_ERRORS_MEAN
    words = "{value:.3g} turns a rollout could not be parsed, at least {rule.per_rollout:g}"
    bound = "per_rollout"

    per_rollout: Number = Field(default=0.5, gt=0, le=1000)
    """Mean number of such turns."""
    steps: Count = 3
    """Number of steps in succession."""


class NothingTrainedRule(Rule):
    """No step of the job has changed a weight so far."""

    steps: Count = 3
    """Steps from the first one on."""


class ChosenRewardRule(StreakRule):
    """Training makes the preferred answers less probable than the model that it started from."""

    curve = names.PREFERENCE_CHOSEN_REWARD
    words = (
        "the implicit reward of the preferred answers, which become less probable too, is "
        "{value:.3g}, below {rule.below:g}"
    )
    bound = "below"
    is_lowest = True

    below: Number = Field(default=0.0, ge=-1e6, le=1e6)
    """Mean implicit reward of a step's preferred answers."""
    steps: Count = 3
    """Number of steps in succession."""


StopRule = (
    PlateauRule
    | TargetRule
    | GapRule
    | MaxStepsRule
    | MaxTimeRule
    | ZeroVarianceRule
    | NothingTrainedRule
    | NeverEarnedRule
    | SolvedRule
    | DriftRule
    | StreakRule
)


class StopOptions(DescribedModel):
    """Stop rules that every method has."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    plateau: PlateauRule = PlateauRule()
    """Validation has not improved for a while."""
    target: TargetRule | None = None
    """Validation has reached a target; `null` is off."""
    max_steps: MaxStepsRule | None = None
    """A number of steps; `null` is off."""
    max_time: MaxTimeRule | None = None
    """A time of training; `null` is off."""
    gap: GapRule = GapRule()
    """Training has diverged from validation."""
    nothing_trained: NothingTrainedRule = NothingTrainedRule()
    """No step has changed a weight."""


class ReinforcementStopOptions(StopOptions):
    """Stop rules of a reinforcement job: those of every method, and those that read rollouts."""

    token_growth: TokenGrowthRule = TokenGrowthRule()
    """Rollouts write more and more."""
    entropy_collapse: EntropyRule = EntropyRule()
    """The policy has stopped exploring."""
    zero_variance: ZeroVarianceRule = ZeroVarianceRule()
    """No group has rollouts of different reward."""
    entropy_rise: EntropyRiseRule = EntropyRiseRule()
    """The policy becomes random."""
    limit_stops: LimitStopsRule = LimitStopsRule()
    """Rollouts end at a limit instead of with an answer."""
    tool_call_collapse: ToolCallCollapseRule = ToolCallCollapseRule()
    """The policy has stopped calling its tools."""
    grader_errors: GraderErrorsRule = GraderErrorsRule()
    """Grades carry an error flag, or the grader fails."""
    parse_errors: ParseErrorsRule = ParseErrorsRule()
    """The policy writes tool calls that cannot be parsed."""
    masked_tokens: MaskedTokensRule = MaskedTokensRule()
    """`mismatch` leaves out much of what was sampled."""
    never_earned: NeverEarnedRule = NeverEarnedRule()
    """No rollout has earned a part of the reward, or more than the least on the rows of a tag."""
    solved: SolvedRule = SolvedRule()
    """Validation earns the highest reward."""


class PreferenceStopOptions(StopOptions):
    """Stop rules of a preference job: those of every method, and those that read pairs."""

    chosen_reward: ChosenRewardRule = ChosenRewardRule()
    """Training makes the preferred answers less probable."""


class KeepCheckpoints(DescribedModel):
    """Number of checkpoints that a job keeps; a dropped one disappears with its model.

    A checkpoint that is shared with another project, or that an unfinished job trains from, is kept
    beside them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    best: Count = 3
    """Number of the best checkpoints by validation; of equals the earlier one counts as better. The
    job publishes the best.
    """
    last: Annotated[int, Field(strict=True, ge=0, le=10**6)] = 1
    """Number of the newest checkpoints, kept whatever their validation."""


def is_unset(value: Any) -> bool:
    return value is None


class EndOptions(DescribedModel):
    """Fields about the end of a job in supervised and preference methods; reinforcement has its own
    `stop`.

    `None` means the defaults.
    """

    runs_calls: ClassVar[bool] = False
    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    stop: StopOptions | None = Field(default=None, exclude_if=is_unset)
    """Rules that warn, pause the job or end it early (an extension)."""
    keep_checkpoints: KeepCheckpoints | None = Field(default=None, exclude_if=is_unset)
    """Number of checkpoints that are kept (an extension)."""


def shown_end(method: dict[str, Any], stop: type[StopOptions] = StopOptions) -> dict[str, Any]:
    rules = stop.model_validate(method.get("stop") or {})
    keep = KeepCheckpoints.model_validate(method.get("keep_checkpoints") or {})
    return {"stop": rules.model_dump(mode="json"), "keep_checkpoints": keep.model_dump(mode="json")}
