"""Detectors of the rules that compare validations, or steps with a constant. Pure.

Must not know the action that follows. `app.domain.jobs.curve_detectors` watches the other curves.
"""

from dataclasses import dataclass
from statistics import fmean
from typing import Final

from app.domain.jobs.curve_detectors import RuleDetector, Seen, build_curve_detector
from app.domain.methods.stop import (
    GapRule,
    MaxStepsRule,
    MaxTimeRule,
    PlateauRule,
    Rule,
    TargetRule,
)
from app.domain.rollouts import metrics as names

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Watched:
    """Names of the curves that measure training and validation."""

    train: str
    valid: str
    larger_is_better: bool

    def gain(self, value: float, over: float) -> float:
        return value - over if self.larger_is_better else over - value


class _Plateau:
    fixed = False

    def __init__(self, rule: PlateauRule, watched: Watched) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.valid,)
        self._best: tuple[float, int] | None = None
        self._without = 0

    def see(self, seen: Seen) -> str | None:
        value = seen.valid.get(self._watched.valid)
        if value is not None:
            self._take(value, seen.step)
        if self._best is None or self._without < self._rule.evaluations:
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

    def reset(self) -> None:
        self._without = 0


class _Target:
    fixed = True

    def __init__(self, rule: TargetRule, watched: Watched) -> None:
        self._rule, self._watched = rule, watched
        self.curves = (watched.valid,)
        self._reason: str | None = None

    def see(self, seen: Seen) -> str | None:
        # The base model's own validation, at step 0, is nothing that the job has reached.
        value = seen.valid.get(self._watched.valid) if seen.step else None
        if value is not None:
            reached = self._watched.gain(value, self._rule.value) >= -_ROUNDING
            self._reason = (
                f"validation {self._watched.valid} of {value:.4g} has reached the target of "
                f"{self._rule.value:g}"
                if reached
                else None
            )
        return self._reason

    def reset(self) -> None:
        """Does nothing: a target once reached stays reached."""


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


def build_detector(rule: Rule, watched: Watched) -> RuleDetector:
    if isinstance(rule, PlateauRule):
        return _Plateau(rule, watched)
    if isinstance(rule, TargetRule):
        return _Target(rule, watched)
    if isinstance(rule, GapRule):
        return _Gap(rule, watched)
    if isinstance(rule, MaxStepsRule):
        return _MaxSteps(rule)
    if isinstance(rule, MaxTimeRule):
        return _MaxTime(rule)
    return build_curve_detector(rule)
