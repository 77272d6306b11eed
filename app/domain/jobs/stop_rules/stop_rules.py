"""The rules that end a job early: a state machine that reads one committed step after another.
Pure.

Promises: its output is a function of the values it read, so a run that was killed reads the
committed curves again and reaches the same state. A warning is given once while its cause lasts. A
rule that paused the job is reset: only later steps count. A rule that compares with a constant
(`target`, `max_steps`, `max_time`) pauses only once.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from app.domain.graders.grader_model import GraderModel
from app.domain.jobs.stop_rules.curve_detectors import RuleDetector, StepValues, Values
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves, build_detector
from app.domain.methods.stop import StopOptions, StopRule
from app.domain.rollouts import metrics as names

_NONE: Final[Values] = {}

REWARD: Final = ObjectiveCurves(names.REWARD_MEAN, names.REWARD_MEAN, larger_is_better=True)
LOSSES: Final = ObjectiveCurves(names.LOSS, names.LOSS, larger_is_better=False)
"""Curves of supervised and DPO jobs: one name for both splits."""

TriggerAction = Literal["warn", "pause", "stop"]


def reward_of(grader: GraderModel) -> ObjectiveCurves:
    """Returns the curves of a job with this grader, with the range of its scores if it has one."""
    if grader.lowest is None or grader.highest is None:
        return REWARD
    return replace(REWARD, scores=(grader.lowest, grader.highest))


@dataclass(frozen=True, slots=True)
class RuleTrigger:
    """Result of a rule whose condition held after a committed step."""

    rule: str
    action: TriggerAction
    step: int
    reason: str
    """Reason as text, with the values."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Watch:
    """All rules of one job."""

    def __init__(self, options: StopOptions, watched: ObjectiveCurves) -> None:
        self._guards = [
            _RuleState(name, rule, build_detector(rule, watched))
            for name in type(options).model_fields
            if (rule := getattr(options, name)) is not None and rule.action != "off"
        ]

    def feed(self, step: int, train: Values, valid: Values = _NONE) -> list[RuleTrigger]:
        """Returns the triggers of a step. Step 0 is the base model's validation. Steps come in
        order, each once.
        """
        seen = StepValues(step, train, valid)
        return [found for guard in self._guards if (found := guard.feed(seen)) is not None]


class _RuleState:
    """One rule: decides when a condition that holds becomes a trigger."""

    def __init__(self, name: str, rule: StopRule, detector: RuleDetector) -> None:
        self._name = name
        self._action = rule.action
        self._detector = detector
        self._triggered = False

    def feed(self, seen: StepValues) -> RuleTrigger | None:
        reason = self._detector.see(seen)
        if seen.step == 0 or self._action == "off":
            return None
        if reason is None:
            self._triggered = self._triggered and self._action == "pause" and self._detector.fixed
            return None
        if self._triggered:
            return None
        self._triggered = self._action != "pause" or self._detector.fixed
        if self._action == "pause":
            self._detector.reset()
        return RuleTrigger(self._name, self._action, seen.step, reason)


def names_read(options: StopOptions, watched: ObjectiveCurves) -> Sequence[str]:
    """Returns the curves that all rules read, including rules that are off."""
    rules = [rule for name in type(options).model_fields if (rule := getattr(options, name))]
    return sorted({name for rule in rules for name in build_detector(rule, watched).curves})


def decisive_trigger(findings: Sequence[RuleTrigger]) -> RuleTrigger | None:
    """Returns the trigger that decides the job's action: stop wins over pause; `None` where all
    triggers are warnings.
    """
    for action in ("stop", "pause"):
        for found in findings:
            if found.action == action:
                return found
    return None
