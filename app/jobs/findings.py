"""A finding: one sentence about the state of a job, and its severity."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, hypot
from typing import Any, Final, Literal, assert_never

from pydantic import ValidationError

from app.graders.definitions import AnyGrader, read_grader
from app.jobs.curve_detectors import Reduction, RuleDetector, StepValues
from app.jobs.curves import Curve, Curves, OutlinedCurves
from app.jobs.intervals import Gain, unpaired_gain
from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.jobs.stop_options import (
    PreferenceStopOptions,
    ReinforcementStopOptions,
    StopOptions,
    StopRule,
)
from app.jobs.stop_rules import LOSSES, REWARD, ObjectiveCurves, build_detector, reward_of
from app.jobs.warnings import paths_of_judges
from app.kit.ids import Split
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint, PackedCurve

FindingSeverity = Literal["good", "unclear", "warn"]
GRAVEST_FIRST: Final[tuple[FindingSeverity, ...]] = ("warn", "unclear", "good")


@dataclass(frozen=True, slots=True)
class Finding:
    severity: FindingSeverity
    text: str
    curve: str
    """Name of the curve that shows it; empty if there is none."""


_MEASURES: Final = {
    "reward": "reward",
    "loss": "loss",
    "logprob_order": "preference_accuracy",
}
"""Name of the report's comparison for each `wins_by`."""
_WORDS: Final = {
    "reward": "reward",
    "preference_accuracy": "share of pairs whose preferred answer is more probable",
    "loss": "loss",
}


def validated_steps(
    watched: ObjectiveCurves, points: Iterable[MetricPoint]
) -> tuple[int, int] | None:
    """Returns the first and the last step with a validation reward; `None` without two of them."""
    steps = {one.step for one in points if (one.name, one.split) == (watched.valid, "valid")}
    return (min(steps), max(steps)) if watched.is_reward and len(steps) > 1 else None


def looks_at(watched: ObjectiveCurves, curves: Curves, *, ended: bool) -> int:
    """Returns the number of validations at which the gain of a job was evaluated. An ended job is
    evaluated once, at its last validation.
    """
    return 1 if ended else max(1, len(curves.get((watched.valid, "valid"), {})) - 1)


def progress(
    watched: ObjectiveCurves,
    curves: Curves,
    gain: Gain | None,
    *,
    looks: int = 1,
    samples: int = 1,
    judges: Sequence[str] = (),
) -> Iterator[Finding]:
    """Yields the change from the first validation to the last one. A loss is computed over all
    rows, so that it has no sampling noise. `samples` is the number of rollouts per row, `judges`
    are the graders that score the rollouts of a group against each other.
    """
    valid = curves.get((watched.valid, "valid"), {})
    if len(valid) < 2:  # noqa: PLR2004 - a first and a last point
        return
    first, last = min(valid), max(valid)
    way = f"from {valid[first]:.3g} at step {first} to {valid[last]:.3g} at step {last}"
    if not watched.is_reward:
        yield _loss_finding(watched, before=valid[first], after=valid[last], way=way)
        return
    if judges:
        yield _judged_apart("validations do", judges, watched.valid)
        return
    found = gain or _unpaired(watched, curves, steps=(first, last), looks=looks, samples=samples)
    if found.is_clear:
        text = f"The validation reward went {way}, a gain of {found.words}."
        yield Finding("good" if found.mean > 0 else "warn", text, watched.valid)
    else:
        text = (
            f"No clear difference yet: the validation reward went {way}, a gain of {found.words}."
        )
        yield Finding("unclear", text, watched.valid)


def _loss_finding(watched: ObjectiveCurves, *, before: float, after: float, way: str) -> Finding:
    if f"{before:.3g}" == f"{after:.3g}":
        return Finding("unclear", f"The validation loss has hardly moved: {way}.", watched.valid)
    better = watched.gain(after, before) > 0
    severity: FindingSeverity = "good" if better else "warn"
    return Finding(severity, f"The validation loss went {way}.", watched.valid)


def report_finding(report: Mapping[str, Any]) -> Finding:
    """Returns the finding of a job's report, by the measure that decides wins and losses."""
    name = _MEASURES.get(report.get("wins_by") or "", "")
    if not report.get(name):
        name = next((one for one in _WORDS if report.get(one)), "")
    compared = report.get(name) or {}
    if name == "reward" and report.get("judged_apart"):
        return _judged_apart("report does", report["judged_apart"], "")
    if compared.get("difference") is None:
        return Finding("unclear", "The report has no row to compare.", "")
    # A report has tuned less start; of a loss, less is better.
    sign = -1 if name == "loss" else 1
    bounds = sorted(sign * bound for bound in compared.get("difference_ci95") or ())
    interval = (bounds[0], bounds[1]) if bounds else None
    gain = Gain(sign * compared["difference"], interval, report.get("rows"))
    if not gain.is_clear:
        text = f"No clear difference in the report: a gain in {_WORDS[name]} of {gain.words}."
        return Finding("unclear", text, "")
    text = f"The report has a gain in {_WORDS[name]} of {gain.words}."
    return Finding("good" if gain.mean > 0 else "warn", text, "")


def _judged_apart(what: str, judges: Sequence[str], curve: str) -> Finding:
    text = (
        f"The {what} not show the gain: {', '.join(judges)} judged base and tuned model in groups "
        "of their own, whose scores are not comparable. Run an eval with a grader of single "
        "answers."
    )
    return Finding("unclear", text, curve)


def _unpaired(
    watched: ObjectiveCurves, curves: Curves, *, steps: tuple[int, int], looks: int, samples: int
) -> Gain:
    """Returns the gain computed from curves only, for rollouts that are no longer stored. The
    number of independent values is the number of rows.
    """
    valid = {name: curve for (name, split), curve in curves.items() if split == "valid"}
    before, after = (
        {name: curve[step] for name, curve in valid.items() if step in curve} for step in steps
    )
    rise = watched.gain(after[watched.valid], before[watched.valid])
    if any(name not in side for name in watched.curves_of_error for side in (before, after)):
        return Gain(rise, None, looks=looks)
    error = hypot(watched.error(before), watched.error(after))
    rows = min(ceil(side[names.ROLLOUTS_VALID] / samples) for side in (before, after))
    return unpaired_gain(rise, error, samples=rows, looks=looks)


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


@dataclass(frozen=True, slots=True)
class CurvesOfJob:
    """The curves for charts of a job, and what findings read instead of the outlines, packed."""

    outlined: OutlinedCurves
    edges: Sequence[PackedCurve]
    whole: Sequence[PackedCurve]
    between: Sequence[PackedCurve]
    count: int
    """First points, and last ones, of each edge."""

    def read(self, outlines: Curves) -> tuple[Curves, CurveGaps]:
        """Returns the curves of findings, given the outlines, of which those of short curves are
        whole.
        """
        whole = {**outlines, **_read(self.whole)}
        if not self.edges:
            return whole, NO_GAPS
        edges = _read(self.edges)
        ends = {name: sorted(curve)[self.count] for (name, _), curve in edges.items()}
        between: dict[str, Curve] = {one.name: one.read() for one in self.between}
        return {**whole, **edges}, CurveGaps(ends, between)

    def ends(self, names: Collection[str]) -> list[MetricPoint]:
        """Returns the first and the last point of each of these curves."""
        return [point for one in self.outlined.summaries if one.name in names for point in one.ends]


def _read(packed: Sequence[PackedCurve]) -> Curves:
    return {(one.name, one.split): one.read() for one in packed}


_WINDOW: Final = 5
"""Number of latest steps for shares of lost rollouts and failing calls."""
_NOTABLE: Final = 0.05
_MOST_GROUPS: Final = 0.5
_RISE: Final = 0.05
_FALL: Final = 0.7
_NOTHING_FINDINGS: Final[Curve] = {}


def watched_by(method: StoredMethod) -> ObjectiveCurves:
    """Returns the curves that measure the job's model."""
    match method:
        case StoredReinforcementMethod():
            return REWARD
        case StoredSupervisedMethod() | StoredDpoMethod():
            return LOSSES
        case _:
            assert_never(method)


def findings(
    method: StoredMethod,
    curves: Curves,
    gain: Gain | None = None,
    *,
    looks: int = 1,
    gaps: CurveGaps = NO_GAPS,
) -> list[Finding]:
    """Returns the findings, most severe first. `gain` compares the last validation with the first
    one, row by row; without it the gain is computed from the curves, for this number of looks.
    """
    grader = _grader(method)
    watched = _watched(method)
    found = [*rule_findings(method, watched, curves, gaps), *_lost(curves), *_tool_errors(curves)]
    found += [*_groups(curves), *_fewer_calls(curves)]
    found += progress(
        watched,
        curves,
        gain,
        looks=looks,
        samples=_samples(method),
        judges=() if grader is None else paths_of_judges(grader, f"method.{method.kind}"),
    )
    return sorted(found, key=lambda one: GRAVEST_FIRST.index(one.severity))


def curves_of_findings(method: StoredMethod, existing: Iterable[str]) -> set[str]:
    """Returns those of a job's curves from which findings are computed."""
    read = {names.REWARD_MEAN, names.TOOL_CALLS_MEAN, names.ROLLOUTS_VALID}
    read |= {names.GROUPS_ZERO_VARIANCE, names.GROUPS_TRAINED}
    read |= curves_of_rules(method, _watched(method))
    return {
        name
        for name in existing
        if name in read or names.discarded_class(name) is not None or _counts_calls(name)
    }


def reductions_of(method: StoredMethod) -> dict[str, Reduction]:
    """Returns how the training curves of a job are summed up between two validations, by name."""
    return reductions(method, _watched(method))


def score_range(method: StoredMethod) -> tuple[float, float] | None:
    """Returns the range of a job's rewards, `None` where its grader's definition has none."""
    return _watched(method).scores


def _watched(method: StoredMethod) -> ObjectiveCurves:
    """Returns the curves that measure the job's model, with the range of its grader's scores."""
    grader = _grader(method)
    return watched_by(method) if grader is None else reward_of(grader)


def _counts_calls(name: str) -> bool:
    metric = names.ToolMetric.parse(name)
    return metric is not None and metric.quantity in ("errors", "calls_mean")


def _grader(method: StoredMethod) -> AnyGrader | None:
    """Returns the grader; `None` for a method without one, and for a definition of an older job
    that is refused today.
    """
    try:
        return read_grader(method.options["grader"])
    except (KeyError, ValidationError):
        return None


def _samples(method: StoredMethod) -> int:
    """Returns the rollouts of a held-out row in a validation."""
    samples = (method.options.get("hyperparameters") or {}).get("eval_samples")
    return samples if isinstance(samples, int) and samples > 0 else 1


def _lost(curves: Curves) -> Iterator[Finding]:
    """Yields a finding when rollouts were lost in the latest steps, and one when some were lost in
    the last validation, with the shares by class.
    """
    train = _latest(curves.get((names.ROLLOUTS_VALID, "train"), _NOTHING_FINDINGS))
    valid = _latest(curves.get((names.ROLLOUTS_VALID, "valid"), _NOTHING_FINDINGS))[-1:]
    yield from _lost_of(curves, "train", train, f"of the last {len(train)} steps")
    for step in valid:
        what = f"of the validation of step {step}" if step else "of the base model's validation"
        yield from _lost_of(curves, "valid", [step], what)


def _lost_of(curves: Curves, of: Split, steps: list[int], what: str) -> Iterator[Finding]:
    by_class = {
        kind: lost
        for (name, split), curve in curves.items()
        if split == of
        and (kind := names.discarded_class(name)) is not None
        and (lost := _sum(curve, steps))
    }
    count = sum(by_class.values())
    total = count + _sum(curves.get((names.ROLLOUTS_VALID, of), _NOTHING_FINDINGS), steps)
    if not count or count / total < _NOTABLE:
        return
    parts = ", ".join(
        f"{n / total:.0%} {kind}" for kind, n in sorted(by_class.items(), key=lambda one: -one[1])
    )
    text = f"{count / total:.0%} of the rollouts {what} were lost: {parts}."
    yield Finding("warn", text, names.DISCARDED_SHARE)


def _tool_errors(curves: Curves) -> Iterator[Finding]:
    """Yields a finding for each tool whose share of failed calls is notable."""
    rollouts = curves.get((names.ROLLOUTS_VALID, "train"), _NOTHING_FINDINGS)
    steps = _latest(rollouts)
    for (name, split), errors in curves.items():
        metric = names.ToolMetric.parse(name)
        if metric is None or split != "train" or metric.quantity != "errors":
            continue
        if metric.tool.startswith("("):  # no tool: calls of unknown names, and unparsable ones
            continue
        mean = curves.get(
            (names.tool_metric(metric.tool, "calls_mean"), "train"), _NOTHING_FINDINGS
        )
        calls = sum(mean.get(step, 0.0) * rollouts[step] for step in steps)
        failed = _sum(errors, steps)
        if failed and calls and failed / calls >= _NOTABLE:
            yield Finding(
                "warn",
                f"{metric.tool} answers {failed / calls:.0%} of its calls with an error.",
                name,
            )


def _groups(curves: Curves) -> Iterator[Finding]:
    """Yields a finding when most groups of the latest steps trained nothing."""
    flat = curves.get((names.GROUPS_ZERO_VARIANCE, "train"), _NOTHING_FINDINGS)
    trained = curves.get((names.GROUPS_TRAINED, "train"), _NOTHING_FINDINGS)
    steps = _latest(flat)
    count, all_groups = _sum(flat, steps), _sum(flat, steps) + _sum(trained, steps)
    if all_groups and count / all_groups >= _MOST_GROUPS:
        yield Finding(
            "warn",
            f"{count / all_groups:.0%} of the groups of the last {len(steps)} steps trained "
            "nothing, because their rollouts earned the same reward: the rows are too easy or too "
            "hard.",
            names.GROUPS_ZERO_VARIANCE,
        )


def _fewer_calls(curves: Curves) -> Iterator[Finding]:
    """Yields a finding when the reward rose while tool calls fell."""
    reward = curves.get((names.REWARD_MEAN, "train"), _NOTHING_FINDINGS)
    calls = curves.get((names.TOOL_CALLS_MEAN, "train"), _NOTHING_FINDINGS)
    if min(len(reward), len(calls)) < 2 * _WINDOW:
        return
    before, now = _mean(calls, first=True), _mean(calls, first=False)
    rise = _mean(reward, first=False) - _mean(reward, first=True)
    if before and now <= _FALL * before and rise >= _RISE:
        yield Finding(
            "warn",
            f"The reward rises while tool calls fall: {now:.2g} calls a rollout, {before:.2g} in "
            f"the first {_WINDOW} steps. Look whether answers still rest on what tools say.",
            names.TOOL_CALLS_MEAN,
        )


def _latest(curve: Curve) -> list[int]:
    return sorted(curve)[-_WINDOW:]


def _sum(curve: Curve, steps: list[int]) -> float:
    return sum(curve.get(step, 0.0) for step in steps)


def _mean(curve: Curve, *, first: bool) -> float:
    steps = sorted(curve)[:_WINDOW] if first else sorted(curve)[-_WINDOW:]
    return _sum(curve, steps) / len(steps)
