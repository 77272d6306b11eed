"""Stop rules at work: what each reads of the committed steps, and when it holds. Pure."""

from collections import Counter, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, sqrt
from statistics import NormalDist, fmean
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, assert_never

from app.graders.grader_model import GraderModel, PartEnds
from app.jobs.intervals import error_probability, t_quantile
from app.jobs.stop_options import (
    DriftRule,
    GapRule,
    MaxStepsRule,
    MaxTimeRule,
    NeverEarnedRule,
    NothingTrainedRule,
    PlateauRule,
    SolvedRule,
    StopOptions,
    StopRule,
    StreakRule,
    TargetRule,
    ZeroVarianceRule,
)
from app.rollouts import metrics as names

Values = Mapping[str, float]
_NONE: Final[Values] = {}
_SHOWN: Final = 8
"""Curves that a reason names at most."""
Reduction = Literal["mean", "lowest", "highest"]
DetectorReads = Literal["points", "validations", "steps"]
"""The steps that change a detector: those with a point of its curves, those with a validation, or
until the first point every step.
"""


@dataclass(frozen=True, slots=True)
class StepValues:
    step: int
    train: Values
    valid: Values


class RuleDetector(Protocol):
    fixed: bool
    reads: DetectorReads
    families: tuple[str, ...]
    """Beginnings of the names of further curves that it reads, as many as the job has."""
    has_news: bool
    """True while a reason that held before has become another one, to be told again."""

    @property
    def reductions(self) -> Mapping[str, Reduction]:
        """How a detector of validations sums up training curves between two of them, by name."""
        ...

    @property
    def curves(self) -> Sequence[str]: ...

    def see(self, seen: StepValues) -> str | None:
        """Returns the reason why the rule holds now, or `None`. A step without the watched value
        repeats the last answer.
        """

    def reset(self) -> None:
        """Drops the evidence of all steps so far."""


class _Detector:
    fixed = False
    reads: DetectorReads = "points"
    families: tuple[str, ...] = ()
    has_news = False
    reductions: Mapping[str, Reduction] = MappingProxyType({})


class _StreakDetector(_Detector):
    def __init__(self, rule: StreakRule) -> None:
        self._rule = rule
        self.curves = (rule.curve,)
        self._count = 0
        self._value = 0.0

    def see(self, seen: StepValues) -> str | None:
        value = seen.train.get(self._rule.curve)
        if value is not None:
            self._value = value
            self._count = self._count + 1 if self._rule.holds(value) else 0
        if self._count < self._rule.steps:
            return None
        words = self._rule.words.format(value=self._value, rule=self._rule)
        return f"{words} in {self._count} steps (curve {self._rule.curve})"

    def reset(self) -> None:
        self._count = 0


class _DriftDetector(_Detector):
    def __init__(self, rule: DriftRule) -> None:
        self._rule = rule
        self.curves = (rule.curve,)
        self._first: list[float] = []
        self._latest: deque[float] = deque(maxlen=rule.steps)

    def see(self, seen: StepValues) -> str | None:
        value, steps = seen.train.get(self._rule.curve), self._rule.steps
        if value is not None:
            (self._first if len(self._first) < steps else self._latest).append(value)
        if len(self._latest) < steps:
            return None
        before, now = fmean(self._first), fmean(self._latest)
        if not self._rule.holds(before, now):
            return None
        words = self._rule.words.format(before=before, now=now)
        return f"{words} in the first {steps} steps (curve {self._rule.curve})"

    def reset(self) -> None:
        self._latest.clear()


class _ZeroVarianceDetector(_Detector):
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


class _NothingTrainedDetector(_Detector):
    reads: DetectorReads = "steps"
    curves = (names.LOSS,)  # which a step that changed a weight has

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


@dataclass(frozen=True, slots=True)
class ObjectiveCurves:
    train: str
    valid: str
    larger_is_better: bool
    scores: tuple[float, float] | None = None
    parts: PartEnds | None = None

    @property
    def is_reward(self) -> bool:
        return self.valid == names.REWARD_MEAN

    def gain(self, value: float, over: float) -> float:
        return value - over if self.larger_is_better else over - value

    @property
    def curves_of_error(self) -> tuple[str, ...]:
        return (names.REWARD_STD, names.ROLLOUTS_VALID) if self.is_reward else ()

    @property
    def curves_of_range(self) -> tuple[str, ...]:
        return (names.REWARD_MIN, names.REWARD_MAX) if self.is_reward else ()

    def error(self, valid: Values) -> float:
        """Returns the standard error of a sampled validation; 0 for one computed over all rows, and
        for one whose rollouts all had the same value.
        """
        deviation, count = (valid.get(name, 0.0) for name in self.curves_of_error or ("", ""))
        # The curve divides by n, an estimate from n values by n - 1.
        return deviation / sqrt(count - 1) if count > 1 else 0.0


class _PlateauDetector(_Detector):
    reads: DetectorReads = "validations"

    def __init__(self, rule: PlateauRule, watched: ObjectiveCurves) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.valid, *watched.curves_of_error)
        self._best: tuple[float, int] | None = None
        self._looks = self._without = 0
        self._error = 0.0
        self._latest: deque[float] = deque(maxlen=rule.evaluations)

    def see(self, seen: StepValues) -> str | None:
        value = seen.valid.get(self._watched.valid)
        if value is not None:
            self._take(value, seen.step)
            self._looks += 1
            self._latest.append(value)
            self._error = self._watched.error(seen.valid)
        if self._best is None or self._without < self._rule.evaluations or self._rises():
            return None
        best, step = self._best
        return (
            f"validation {self._watched.valid} has not improved by "
            f"{self._rule.min_improvement:g} in {self._without} validations "
            f"(best {best:.4g} at step {step})"
        )

    def _take(self, value: float, step: int) -> None:
        gain = None if self._best is None else self._watched.gain(value, self._best[0])
        if gain is None or (gain > 0 and gain >= self._rule.min_improvement - names.TIE):
            self._best, self._without = (value, step), 0
        else:
            self._without += 1

    def _rises(self) -> bool:
        """Returns whether the latest validations together are better than the best one, corrected
        for chance: the best of many validations is expected to be above its true value.
        """
        if self._best is None or not self._error:
            return False
        gain = self._watched.gain(fmean(self._latest), self._best[0])
        return gain + self._error * expected_largest(self._looks) >= self._rule.min_improvement

    def reset(self) -> None:
        self._without = 0


def expected_largest(count: int) -> float:
    """Returns the expected largest of `count` standard normal numbers, as Blom approximates it."""
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0


class _FixedDetector(_Detector):
    fixed = True

    def reset(self) -> None:
        """Does nothing: a value once reached stays reached."""


class _RangeDetector(_Detector):
    """Knows the range of the rewards: the grader's, and what was seen."""

    reads: DetectorReads = "validations"

    def __init__(self, watched: ObjectiveCurves) -> None:
        self._watched = watched
        self.curves = (watched.valid, *watched.curves_of_error, *watched.curves_of_range)
        self.reductions = dict(zip(watched.curves_of_range, ("lowest", "highest"), strict=False))
        self._lowest, self._highest = watched.scores or (inf, -inf)
        self._reason: str | None = None

    def _widen(self, *sides: Values) -> None:
        for values in sides:
            self._lowest = min(self._lowest, values.get(names.REWARD_MIN, inf))
            self._highest = max(self._highest, values.get(names.REWARD_MAX, -inf))

    def reset(self) -> None:
        """Does nothing: a validation holds until the next one."""


class SolvedDetector(_RangeDetector):
    is_solved = False

    def see(self, seen: StepValues) -> str | None:
        self._widen(seen.train, seen.valid)
        value = seen.valid.get(self._watched.valid)
        if value is None or not self._watched.is_reward:
            return self._reason
        top = self._top
        error = self._watched.error(seen.valid) if self.is_solved else 0.0
        self.is_solved = top is not None and value + error >= top - names.TIE
        self._reason = (
            f"validation {self._watched.valid} has reached {top:.4g}, the highest reward: the task "
            "is solved. Rollouts of equal reward and little entropy are a sign of that now; use "
            "harder rows to learn more"
            if self.is_solved
            else None
        )
        return self._reason

    @property
    def _top(self) -> float | None:
        """`None` where it is not known, as long as all rewards are equal."""
        if self._watched.scores is not None:
            return self._highest
        parts = self._watched.parts
        if self._highest <= self._lowest or (parts is not None and parts.best is None):
            return None
        return max(self._highest, 1.0 if parts is None or parts.best is None else parts.best)


class _NeverEarnedDetector(_Detector):
    families: tuple[str, ...] = (names.component_metric(""), names.tag_metric(""))
    curves = (names.REWARD_MIN, names.REWARD_MAX)

    def __init__(self, rule: NeverEarnedRule, watched: ObjectiveCurves) -> None:
        self._rule = rule
        self._worst: Values = _NONE if watched.parts is None else watched.parts.worst
        self._lowest, self._highest = inf, -inf
        self._first: dict[str, float] = {}
        self._moved, self._told = set[str](), set[str]()
        self._steps = Counter[str]()

    def see(self, seen: StepValues) -> str | None:
        self._lowest = min(self._lowest, seen.train.get(names.REWARD_MIN, inf))
        self._highest = max(self._highest, seen.train.get(names.REWARD_MAX, -inf))
        for name, value in seen.train.items():
            if name.startswith(self.families):
                self._steps[name] += 1
                if abs(value - self._first.setdefault(name, value)) > names.TIE:
                    self._moved.add(name)
        found = sorted(name for name in self._first.keys() - self._moved if self._is_worst(name))
        self.has_news = not self._told.issuperset(found)
        self._told.update(found)
        if not found:
            return None
        listed = ", ".join(f"{self._first[name]:g} in {name}" for name in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more curves" if len(found) > _SHOWN else ""
        return (
            f"no rollout of at least {self._rule.steps} steps did better than {listed}{more}: what "
            "is never sampled is never learned. Teach it with supervised rows first, give partial "
            "credit for it, or ask for it in the prompt"
        )

    def _is_worst(self, name: str) -> bool:
        value, (components, _) = self._first[name], self.families
        if self._steps[name] < self._rule.steps:
            return False
        if not name.startswith(components):
            return value <= self._lowest + names.TIE < self._highest
        worst = self._worst.get(name.removeprefix(components))
        return value <= names.TIE if worst is None else abs(value - worst) <= names.TIE

    def reset(self) -> None:
        self._steps.clear()


class _TargetDetector(_RangeDetector):
    fixed = True

    def __init__(self, rule: TargetRule, watched: ObjectiveCurves) -> None:
        super().__init__(watched)
        self._rule = rule
        self._looks = 0

    def see(self, seen: StepValues) -> str | None:
        self._widen(seen.train, seen.valid)
        # The base model's own validation, at step 0, is nothing that the job has reached.
        value = seen.valid.get(self._watched.valid) if seen.step else None
        if value is not None:
            self._looks += 1
            self._reason = (
                f"validation {self._watched.valid} of {value:.4g} has reached the target of "
                f"{self._rule.value:g}"
                if self._is_reached(value, seen.valid)
                else None
            )
        return self._reason

    def _is_reached(self, value: float, valid: Values) -> bool:
        """Returns whether the target is reached with significance: chance alone would do that in at
        most one of twenty jobs, however many validations they have.
        """
        beyond = self._watched.gain(value, self._rule.value)
        if not self._watched.is_reward:  # its mean is over all rows
            return beyond >= -names.TIE
        count = int(valid.get(names.ROLLOUTS_VALID, 0))
        error = max(self._watched.error(valid), self._least_error(count))
        if not error:
            return self._watched.scores is not None and count > 0 and beyond >= -names.TIE
        if count < 2:  # noqa: PLR2004 - one value has no deviation
            return False
        tail = error_probability(self._looks)
        return beyond >= error * t_quantile(count - 1, tail=tail) - names.TIE

    def _least_error(self, count: int) -> float:
        """Returns the standard error of rewards at either end of their range whose true mean is the
        target. Near an end the observed deviation is too small; it is 0 if all rewards are the
        highest.
        """
        under, over = self._rule.value - self._lowest, self._highest - self._rule.value
        return sqrt(under * over / count) if count and under > 0 and over > 0 else 0.0


class _MaxStepsDetector(_FixedDetector):
    curves = ()

    def __init__(self, rule: MaxStepsRule) -> None:
        self._rule = rule

    def see(self, seen: StepValues) -> str | None:
        return f"{seen.step} steps are done" if seen.step >= self._rule.steps else None


class _MaxTimeDetector(_FixedDetector):
    curves = (names.TIME_STEP,)

    def __init__(self, rule: MaxTimeRule) -> None:
        self._rule = rule
        self._spent_s = 0.0

    def see(self, seen: StepValues) -> str | None:
        self._spent_s += seen.train.get(names.TIME_STEP, 0.0)
        if self._spent_s < self._rule.seconds:
            return None
        return f"steps have taken {self._spent_s:.1f} s of {self._rule.seconds:g} s"


class _GapDetector(_Detector):
    reads: DetectorReads = "validations"

    def __init__(self, rule: GapRule, watched: ObjectiveCurves) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.train, watched.valid, *watched.curves_of_error)
        self.reductions = {watched.train: "mean"}
        self._since: list[float] = []
        self._wide = 0
        self._gap = 0.0

    def see(self, seen: StepValues) -> str | None:
        trained = seen.train.get(self._watched.train)
        if trained is not None:
            self._since.append(trained)
        value = seen.valid.get(self._watched.valid)
        if value is not None and self._since:
            self._gap = self._watched.gain(fmean(self._since), value)
            least = self._rule.threshold + self._watched.error(seen.valid)
            self._wide = self._wide + 1 if self._gap >= least else 0
            self._since = []
        if self._wide < self._rule.evaluations:
            return None
        return (
            f"training {self._watched.train} is {self._gap:.4g} better than validation, at least "
            f"{self._rule.threshold:g} in {self._wide} validations: rows may be learned by heart, "
            "or the grader gamed"
        )

    def reset(self) -> None:
        self._wide = 0


def _of_objective(
    rule: PlateauRule | TargetRule | GapRule | NeverEarnedRule | SolvedRule,
    watched: ObjectiveCurves,
) -> RuleDetector:
    match rule:
        case PlateauRule():
            return _PlateauDetector(rule, watched)
        case TargetRule():
            return _TargetDetector(rule, watched)
        case GapRule():
            return _GapDetector(rule, watched)
        case NeverEarnedRule():
            return _NeverEarnedDetector(rule, watched)
        case SolvedRule():
            return SolvedDetector(watched)
        case _:
            assert_never(rule)


def build_detector(rule: StopRule, watched: ObjectiveCurves) -> RuleDetector:
    found: RuleDetector
    match rule:
        case PlateauRule() | TargetRule() | GapRule() | NeverEarnedRule() | SolvedRule():
            found = _of_objective(rule, watched)
        case MaxStepsRule():
            found = _MaxStepsDetector(rule)
        case MaxTimeRule():
            found = _MaxTimeDetector(rule)
        case ZeroVarianceRule():
            found = _ZeroVarianceDetector(rule)
        case NothingTrainedRule():
            found = _NothingTrainedDetector(rule)
        case DriftRule():
            found = _DriftDetector(rule)
        case StreakRule():
            found = _StreakDetector(rule)
        case _:
            assert_never(rule)
    return found


REWARD: Final = ObjectiveCurves(names.REWARD_MEAN, names.REWARD_MEAN, larger_is_better=True)
LOSSES: Final = ObjectiveCurves(names.LOSS, names.LOSS, larger_is_better=False)
"""Curves of supervised and DPO jobs: one name for both splits."""

TriggerAction = Literal["warn", "pause", "stop"]


def reward_of(grader: GraderModel) -> ObjectiveCurves:
    low, high = grader.lowest, grader.highest
    scores = None if low is None or high is None else (low, high)
    return replace(REWARD, scores=scores, parts=grader.part_ends)


@dataclass(frozen=True, slots=True)
class RuleTrigger:
    rule: str
    action: TriggerAction
    step: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


GOOD_NEWS: Final = frozenset({"target", "solved"})
"""Rules whose reason is no warning."""


class Watch:
    def __init__(self, options: StopOptions, watched: ObjectiveCurves) -> None:
        self._solved = SolvedDetector(watched)
        self._guards = [
            _RuleState(name, rule, build_detector(rule, watched))
            for name in type(options).model_fields
            if (rule := getattr(options, name)) is not None and rule.action != "off"
        ]

    def feed(self, step: int, train: Values, valid: Values = _NONE) -> list[RuleTrigger]:
        """Takes steps in order, each once; step 0 is the base model's validation."""
        seen = StepValues(step, train, valid)
        self._solved.see(seen)
        found = [guard.feed(seen, solved=self._solved.is_solved) for guard in self._guards]
        return [trigger for trigger in found if trigger is not None]


class _RuleState:
    def __init__(self, name: str, rule: StopRule, detector: RuleDetector) -> None:
        self._name = name
        self._action = rule.action
        self._is_moot_when_solved = rule.action in rule.moot_when_solved
        self._detector = detector
        self._triggered = False

    def feed(self, seen: StepValues, *, solved: bool) -> RuleTrigger | None:
        reason = self._detector.see(seen)
        if seen.step == 0 or self._action == "off":
            return None
        if solved and self._is_moot_when_solved:
            reason = None
        if reason is None:
            self._triggered = self._triggered and self._action == "pause" and self._detector.fixed
            return None
        if self._triggered and not self._detector.has_news:
            return None
        self._triggered = self._action != "pause" or self._detector.fixed
        if self._action == "pause":
            self._detector.reset()
        return RuleTrigger(self._name, self._action, seen.step, reason)


def names_read(
    options: StopOptions, watched: ObjectiveCurves, existing: Collection[str] = ()
) -> Sequence[str]:
    """`existing`: the job's curves, of which rules may read whole families."""
    rules = [rule for name in type(options).model_fields if (rule := getattr(options, name))]
    detectors = [build_detector(rule, watched) for rule in (*rules, SolvedRule())]
    return sorted({name for one in detectors for name in curves_of(one, existing)})


def curves_of(detector: RuleDetector, existing: Collection[str]) -> list[str]:
    return [*detector.curves, *(name for name in existing if name.startswith(detector.families))]


def decisive_trigger(findings: Sequence[RuleTrigger]) -> RuleTrigger | None:
    for action in ("stop", "pause"):
        for found in findings:
            if found.action == action:
                return found
    return None
