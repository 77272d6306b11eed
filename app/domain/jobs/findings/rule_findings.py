"""Findings of a job's own stop rules: those whose condition holds at the last step. Pure.

Promises that a rule is evaluated as in the run. A long job has only the points here that decide:
see `CurveGaps`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from pydantic import ValidationError

from app.domain.ids import Split
from app.domain.jobs.curves.curves import Curve, Curves
from app.domain.jobs.findings.finding import Finding, FindingSeverity
from app.domain.jobs.stop_rules.curve_detectors import Reduction, RuleDetector, StepValues
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves, build_detector
from app.domain.methods.method_documents import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.domain.methods.stop import (
    PreferenceStopOptions,
    ReinforcementStopOptions,
    StopOptions,
    StopRule,
)

FEWEST_EDGE_POINTS: Final = 64
"""First points, and as many last ones, of a long curve that findings read."""
_NOTHING: Final[Curve] = {}


@dataclass(frozen=True, slots=True)
class CurveGaps:
    """The parts of a long job's training curves that were not read.

    A rule of collapses compares the first steps with the last ones, or watches the last ones: a
    streak that reaches back over the gap counts from its end. A rule of validations needs one
    value of training for each of them, over the steps since the one before.
    """

    ends: Mapping[str, int] = field(default_factory=dict)
    """First step behind the gap, by name of the training curve."""
    between: Mapping[str, Curve] | None = None
    """Values between validations by name and step of the validation; `None` if no curve has a
    gap.
    """


NO_GAPS: Final = CurveGaps()


def rule_findings(
    method: StoredMethod, watched: ObjectiveCurves, curves: Curves, gaps: CurveGaps = NO_GAPS
) -> Iterator[Finding]:
    last = max((step for curve in curves.values() for step in curve), default=0)
    for name, rule in _rules(method):
        detector, reason = build_detector(rule, watched), None
        end_of_gap = max((gaps.ends.get(curve, 0) for curve in detector.curves), default=0)
        before = -1
        for seen in _replayed(detector, curves, last=last, between=gaps.between):
            if before < end_of_gap <= seen.step and detector.reads != "validations":
                detector.reset()
            reason, before = detector.see(seen), seen.step
        if reason is not None:
            severity: FindingSeverity = "good" if name == "target" else "warn"
            yield Finding(severity, _sentence(reason), next(iter(detector.curves), watched.valid))


def curves_of_rules(method: StoredMethod, watched: ObjectiveCurves) -> set[str]:
    """Returns the names of the curves that the rules read."""
    return {curve for _, rule in _rules(method) for curve in build_detector(rule, watched).curves}


def edge_points(method: StoredMethod) -> int:
    """Returns how many first and last points of a long curve decide every rule."""
    windows = (getattr(rule, "steps", 0) for _, rule in _rules(method))
    return max(FEWEST_EDGE_POINTS, *windows, 0)


def reductions(method: StoredMethod, watched: ObjectiveCurves) -> dict[str, Reduction]:
    """Returns how training curves are summed up between two validations, by name."""
    return {
        name: reduction
        for _, rule in _rules(method)
        for name, reduction in build_detector(rule, watched).reductions.items()
    }


def _rules(method: StoredMethod) -> Iterator[tuple[str, StopRule]]:
    """Yields the rules that are on, without those that only count steps and time."""
    options = _stop_options(method)
    if options is None:
        return
    for name in type(options).model_fields:
        rule = getattr(options, name)
        if rule is not None and rule.action != "off" and name not in ("max_steps", "max_time"):
            yield name, rule


def _stop_options(method: StoredMethod) -> StopOptions | None:
    """Returns the job's rules; `None` for options of an older job that are refused today."""
    sent = method.options.get("stop") or {}
    try:
        match method:
            case StoredReinforcementMethod():
                return ReinforcementStopOptions.model_validate(sent)
            case StoredSupervisedMethod():
                return StopOptions.model_validate(sent)
            case StoredDpoMethod():
                return PreferenceStopOptions.model_validate(sent)
            case _:
                assert_never(method)
    except ValidationError:
        return None


def _replayed(
    detector: RuleDetector, curves: Curves, *, last: int, between: Mapping[str, Curve] | None
) -> Iterator[StepValues]:
    """Yields the steps that change a detector."""
    train = _of_split(curves, "train", detector.curves)
    if between is not None and detector.reads == "validations":
        train = [(name, between[name]) for name in detector.curves if name in between]
    trained = _by_step(train)
    valid = _by_step(_of_split(curves, "valid", detector.curves))
    steps: Iterable[int] = sorted({*trained, *valid})
    if detector.reads == "steps" and not trained:
        steps = range(last + 1)
    for step in steps:
        yield StepValues(step, trained.get(step, {}), valid.get(step, {}))


def _of_split(curves: Curves, split: Split, wanted: Collection[str]) -> list[tuple[str, Curve]]:
    return [(name, curves.get((name, split), _NOTHING)) for name in dict.fromkeys(wanted)]


def _by_step(curves: Iterable[tuple[str, Curve]]) -> dict[int, dict[str, float]]:
    values: dict[int, dict[str, float]] = {}
    for name, curve in curves:
        for step, value in curve.items():
            values.setdefault(step, {})[name] = value
    return values


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."
