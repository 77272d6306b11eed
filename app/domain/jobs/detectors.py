"""Detectors of the rules that compare validations, or steps with a constant. Pure.

Must not know the action that follows. `app.domain.jobs.curve_detectors` watches the other curves.
"""

from collections import deque
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean
from typing import Final

from app.domain.jobs.curve_detectors import RuleDetector, Seen, Values, build_curve_detector
from app.domain.methods.stop import (
    GapRule,
    MaxStepsRule,
    MaxTimeRule,
    PlateauRule,
    StopRule,
    TargetRule,
)
from app.domain.rollouts import metrics as names

_ROUNDING: Final = 1e-9
_CHANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Watched:
    """Names of the curves that measure training and validation."""

    train: str
    valid: str
    larger_is_better: bool

    def gain(self, value: float, over: float) -> float:
        return value - over if self.larger_is_better else over - value

    @property
    def curves_of_error(self) -> tuple[str, ...]:
        """Names of the curves that `error` reads."""
        return (names.REWARD_STD, names.ROLLOUTS_VALID) if self.valid == names.REWARD_MEAN else ()

    def error(self, valid: Values) -> float:
        """Returns the standard error of a validation that was sampled; 0 for one that was computed
        over all rows, and for one whose rollouts were all alike.
        """
        deviation, count = (valid.get(name, 0.0) for name in self.curves_of_error or ("", ""))
        return deviation / sqrt(count) if count else 0.0

    def error_at(self, bound: float, valid: Values) -> float:
        """Returns the standard error of a sampled validation for a test against `bound`: at least
        that of right and wrong answers whose true mean is the bound. Near the ends of 0…1 the
        observed deviation is too small, and 0 where all answers are right.
        """
        count = valid.get(names.ROLLOUTS_VALID, 0.0) if self.curves_of_error else 0.0
        under = sqrt(bound * (1 - bound) / count) if count and 0 < bound < 1 else 0.0
        return max(under, self.error(valid))


class _Plateau:
    fixed = False

    def __init__(self, rule: PlateauRule, watched: Watched) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.valid, *watched.curves_of_error)
        self._best: tuple[float, int] | None = None
        self._looks = self._without = 0
        self._error = 0.0
        self._latest: deque[float] = deque(maxlen=rule.evaluations)

    def see(self, seen: Seen) -> str | None:
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
        if gain is None or (gain > 0 and gain >= self._rule.min_improvement - _ROUNDING):
            self._best, self._without = (value, step), 0
        else:
            self._without += 1

    def _rises(self) -> bool:
        """Returns whether the latest validations together are better than the best one would be
        without its luck: the best of many validations is expected above the truth.
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


class _Target:
    fixed = True

    def __init__(self, rule: TargetRule, watched: Watched) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.valid, *watched.curves_of_error)
        self._looks = 0
        self._reason: str | None = None

    def see(self, seen: Seen) -> str | None:
        # The base model's own validation, at step 0, is nothing that the job has reached.
        value = seen.valid.get(self._watched.valid) if seen.step else None
        if value is not None:
            self._looks += 1
            error = self._watched.error_at(self._rule.value, seen.valid)
            margin = error * deviations_for(self._looks)
            reached = self._watched.gain(value, self._rule.value) >= margin - _ROUNDING
            self._reason = (
                f"validation {self._watched.valid} of {value:.4g} has reached the target of "
                f"{self._rule.value:g}"
                if reached
                else None
            )
        return self._reason

    def reset(self) -> None:
        """Does nothing: a target once reached stays reached."""


def deviations_for(look: int) -> float:
    """Returns by how many standard errors a validation must pass a bound, so that chance does it in
    at most one of twenty jobs, however often they look: look k has 1/(k (k + 1)) of that chance.
    """
    return NormalDist().inv_cdf(1 - _CHANCE / (look * (look + 1)))


class _MaxSteps:
    fixed = True
    curves = ()

    def __init__(self, rule: MaxStepsRule) -> None:
        self._rule = rule

    def see(self, seen: Seen) -> str | None:
        return f"{seen.step} steps are done" if seen.step >= self._rule.steps else None

    def reset(self) -> None:
        """Does nothing: a figure once reached stays reached."""


class _MaxTime:
    fixed = True
    curves = (names.TIME_STEP,)

    def __init__(self, rule: MaxTimeRule) -> None:
        self._rule = rule
        self._spent_s = 0.0

    def see(self, seen: Seen) -> str | None:
        self._spent_s += seen.train.get(names.TIME_STEP, 0.0)
        if self._spent_s < self._rule.seconds:
            return None
        return f"steps have taken {self._spent_s:.1f} s of {self._rule.seconds:g} s"

    def reset(self) -> None:
        """Does nothing: a figure once reached stays reached."""


class _Gap:
    fixed = False

    def __init__(self, rule: GapRule, watched: Watched) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.train, watched.valid)
        self._since: list[float] = []
        self._wide = 0
        self._gap = 0.0

    def see(self, seen: Seen) -> str | None:
        trained = seen.train.get(self._watched.train)
        if trained is not None:
            self._since.append(trained)
        value = seen.valid.get(self._watched.valid)
        if value is not None and self._since:
            self._gap = self._watched.gain(fmean(self._since), value)
            self._wide = self._wide + 1 if self._gap >= self._rule.threshold else 0
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


def build_detector(rule: StopRule, watched: Watched) -> RuleDetector:
    match rule:
        case PlateauRule():
            return _Plateau(rule, watched)
        case TargetRule():
            return _Target(rule, watched)
        case GapRule():
            return _Gap(rule, watched)
        case MaxStepsRule():
            return _MaxSteps(rule)
        case MaxTimeRule():
            return _MaxTime(rule)
        case _:
            return build_curve_detector(rule)
