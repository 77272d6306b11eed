"""Detectors of the rules that watch the curves of training for a collapse. Pure."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Final, Literal, Protocol, assert_never

from app.jobs.stop_options import (
    ChosenRewardRule,
    CurveRule,
    EntropyRiseRule,
    EntropyRule,
    GraderErrorsRule,
    LimitStopsRule,
    NothingTrainedRule,
    ParseErrorsRule,
    TokenGrowthRule,
    ToolCallCollapseRule,
    ZeroVarianceRule,
)
from app.rollouts import metrics as names

Values = Mapping[str, float]
Reduction = Literal["mean", "lowest", "highest"]
DetectorReads = Literal["points", "validations", "steps"]
"""The steps that change a detector: those with a point of its curves, those with a validation, or
until the first point every step.
"""
_FEWEST_CALLS: Final = 0.1
"""Smallest number of tool calls per rollout in the first steps for which a collapse is detected."""


@dataclass(frozen=True, slots=True)
class StepValues:
    """The committed values of one step; `valid` is empty when nothing was validated."""

    step: int
    train: Values
    valid: Values


class RuleDetector(Protocol):
    fixed: bool
    """True if the rule compares with a constant, so that it pauses at most once."""
    reads: DetectorReads

    @property
    def reductions(self) -> Mapping[str, Reduction]:
        """Reductions of a training curve between two validations to one value, by name, for a
        detector that reads validations.
        """
        ...

    @property
    def curves(self) -> Sequence[str]:
        """Names of the curves that it reads."""
        ...

    def see(self, seen: StepValues) -> str | None:
        """Returns the reason why the rule holds now, or `None`. A step without the watched value
        repeats the last answer.
        """

    def reset(self) -> None:
        """Drops the evidence of all steps so far."""


class _CurveDetector:
    """Base of the detectors that watch the latest steps."""

    fixed = False
    reads: DetectorReads = "points"
    reductions: Mapping[str, Reduction] = MappingProxyType({})


class _StreakDetector(_CurveDetector):
    """Holds while a training curve has been out of bounds in so many steps in succession."""

    def __init__(
        self,
        curve: str,
        steps: int,
        *,
        holds: Callable[[float], bool],
        words: Callable[[float], str],
    ) -> None:
        self.curves = (curve,)
        self._curve, self._steps = curve, steps
        self._holds, self._words = holds, words
        self._count = 0
        self._value = 0.0

    def see(self, seen: StepValues) -> str | None:
        value = seen.train.get(self._curve)
        if value is not None:
            self._value = value
            self._count = self._count + 1 if self._holds(value) else 0
        if self._count < self._steps:
            return None
        return f"{self._words(self._value)} in {self._count} steps (curve {self._curve})"

    def reset(self) -> None:
        self._count = 0


class _DriftDetector(_CurveDetector):
    """Holds while the mean of a curve over the latest steps is too far from that of the first."""

    def __init__(
        self,
        curve: str,
        steps: int,
        *,
        holds: Callable[[float, float], bool],
        words: Callable[[float, float], str],
    ) -> None:
        """`holds` and `words` get the mean of the first and of the latest steps."""
        self.curves = (curve,)
        self._curve, self._steps = curve, steps
        self._holds, self._words = holds, words
        self._first: list[float] = []
        self._latest: deque[float] = deque(maxlen=steps)

    def see(self, seen: StepValues) -> str | None:
        value = seen.train.get(self._curve)
        if value is not None:
            (self._first if len(self._first) < self._steps else self._latest).append(value)
        if len(self._latest) < self._steps:
            return None
        before, now = fmean(self._first), fmean(self._latest)
        if not self._holds(before, now):
            return None
        words = self._words(before, now)
        return f"{words} in the first {self._steps} steps (curve {self._curve})"

    def reset(self) -> None:
        self._latest.clear()


class _ZeroVarianceDetector(_CurveDetector):
    curves = (names.GROUPS_TRAINED, names.GROUPS_ZERO_VARIANCE)

    def __init__(self, rule: ZeroVarianceRule) -> None:
        self._rule = rule
        self._steps = 0

    def see(self, seen: StepValues) -> str | None:
        if seen.train.get(names.GROUPS_TRAINED, 0.0) > 0:
            self._steps = 0
        elif seen.train.get(names.GROUPS_ZERO_VARIANCE, 0.0) > 0:
            self._steps += 1
        if self._steps < self._rule.steps:
            return None
        return (
            f"every group's rollouts earned the same reward in {self._steps} steps "
            f"(curve {names.GROUPS_ZERO_VARIANCE})"
        )

    def reset(self) -> None:
        self._steps = 0


class _NothingTrainedDetector(_CurveDetector):
    reads: DetectorReads = "steps"
    curves = (names.LOSS,)
    """Names of the curves: a step that changed a weight has a loss."""

    def __init__(self, rule: NothingTrainedRule) -> None:
        self._rule = rule
        self._steps = 0
        self._trained = False

    def see(self, seen: StepValues) -> str | None:
        if seen.step:
            self._trained = self._trained or names.LOSS in seen.train
            self._steps += 1
        if self._trained or self._steps < self._rule.steps:
            return None
        return (
            f"none of the {self._steps} steps so far has changed a weight (curve {names.LOSS} has "
            "no point): the model is the one that training started from"
        )

    def reset(self) -> None:
        self._steps = 0


def build_curve_detector(rule: CurveRule) -> RuleDetector:
    match rule:
        case ZeroVarianceRule():
            return _ZeroVarianceDetector(rule)
        case NothingTrainedRule():
            return _NothingTrainedDetector(rule)
        case TokenGrowthRule() | EntropyRiseRule() | ToolCallCollapseRule():
            return _drift(rule)
        case LimitStopsRule() | GraderErrorsRule() | ParseErrorsRule():
            return _high_streak(rule)
        case EntropyRule() | ChosenRewardRule():
            return _low_streak(rule)
        case _:
            assert_never(rule)


def _drift(rule: TokenGrowthRule | EntropyRiseRule | ToolCallCollapseRule) -> RuleDetector:
    match rule:
        case TokenGrowthRule(ratio=ratio):
            return _DriftDetector(
                names.COMPLETION_TOKENS_MEAN,
                rule.steps,
                holds=lambda before, now: now >= ratio * before,
                words=lambda before, now: f"rollouts write {now:.0f} tokens, {before:.0f}",
            )
        case EntropyRiseRule(ratio=ratio, min_rise=rise):
            return _DriftDetector(
                names.ENTROPY,
                rule.steps,
                holds=lambda before, now: now >= ratio * before and now - before >= rise,
                words=lambda before, now: f"entropy is {now:.3g} nats a token, {before:.3g}",
            )
        case ToolCallCollapseRule(share=share):
            return _DriftDetector(
                names.TOOL_CALLS_MEAN,
                rule.steps,
                holds=lambda before, now: before >= _FEWEST_CALLS and now <= share * before,
                words=lambda before, now: f"rollouts make {now:.3g} tool calls, {before:.3g}",
            )


def _high_streak(rule: LimitStopsRule | GraderErrorsRule | ParseErrorsRule) -> RuleDetector:
    match rule:
        case LimitStopsRule(share=share):
            return _StreakDetector(
                names.LIMIT_STOP_SHARE,
                rule.steps,
                holds=lambda value: value >= share,
                words=lambda value: (
                    f"{value:.0%} of the rollouts ended at a limit, at least {share:.0%}"
                ),
            )
        case GraderErrorsRule(share=share):
            return _StreakDetector(
                names.GRADER_ERROR_SHARE,
                rule.steps,
                holds=lambda value: value >= share,
                words=lambda value: (
                    f"the grader failed or flagged an error in {value:.0%} of the rollouts, "
                    f"at least {share:.0%}"
                ),
            )
        case ParseErrorsRule(per_rollout=limit):
            return _StreakDetector(
                names.TOOL_PARSE_ERRORS_MEAN,
                rule.steps,
                holds=lambda value: value >= limit,
                words=lambda value: (
                    f"{value:.3g} turns a rollout could not be parsed, at least {limit:g}"
                ),
            )


def _low_streak(rule: EntropyRule | ChosenRewardRule) -> RuleDetector:
    match rule:
        case EntropyRule(below=below):
            return _StreakDetector(
                names.ENTROPY,
                rule.steps,
                holds=lambda value: value < below,
                words=lambda value: f"entropy is {value:.3g} nats a token, below {below:g}",
            )
        case ChosenRewardRule(below=below):
            return _StreakDetector(
                names.PREFERENCE_CHOSEN_REWARD,
                rule.steps,
                holds=lambda value: value < below,
                words=lambda value: (
                    "the implicit reward of the preferred answers, which become less probable "
                    f"too, is {value:.3g}, below {below:g}"
                ),
            )
