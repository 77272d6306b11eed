"""Curves of a job as replies and pages show them, and findings: sentences about its state."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import groupby
from math import ceil, hypot
from typing import Any, Final, Literal, TypeVar

from pydantic import ValidationError

from app.graders.definitions import AnyGrader, read_grader
from app.jobs.intervals import Gain, unpaired_gain
from app.jobs.jobs import Verdict
from app.jobs.method_faults import paths_of_judges
from app.jobs.methods import StoredMethod
from app.jobs.stop_options import (
    PreferenceStopOptions,
    ReinforcementStopOptions,
    StopOptions,
    StopRule,
)
from app.jobs.stop_rules import (
    GOOD_NEWS,
    LOSSES,
    REWARD,
    ObjectiveCurves,
    Reduction,
    RuleDetector,
    SolvedDetector,
    StepValues,
    build_detector,
    curves_of,
    reward_of,
)
from app.jobs.supervised import MethodType
from app.kit.errors import InvalidRequest
from app.kit.ids import Split
from app.rollouts import metrics as names
from app.rollouts.metrics import JobPart, MetricPoint, PackedCurve, part_of
from app.rollouts.trajectory import UNKNOWN_TOOL, UNPARSABLE_CALL
from app.tools.environment_options import HTTP

Curve = Mapping[int, float]
Curves = Mapping[tuple[str, Split], Curve]
"""Values by step, for each pair of curve name and split."""
_NO_TOOL: Final = frozenset({UNKNOWN_TOOL, UNPARSABLE_CALL})
_COMPARED: Final = 80
_SHOWN: Final = 10
_SIMILARITY: Final = 0.5
_PARTS: Final[dict[JobPart, tuple[str, str, str]]] = {
    "<tool>": ("tool/", "tool", "tools"),
    "<child>": ("grader/", "grader", "children of a 'multi' grader"),
    "<name>": (names.component_metric(""), "component", "components"),
    "<tag>": (names.tag_metric(""), "tag", "tags"),
}
"""What precedes the part in a curve's name; one and several such parts in words."""


def check_parts(sent: Iterable[str], method: StoredMethod, existing: Collection[str]) -> None:
    known: dict[JobPart, set[str]] = {kind: set() for kind in _PARTS}
    for kind, name in (*_of_method(method), *filter(None, map(part_of, existing))):
        known[kind].add(name)
    for curve in sent:
        part = part_of(curve)
        if part is None or curve in existing or part[1] in known[part[0]] | _NO_TOOL:
            continue
        if part[0] in ("<name>", "<tag>") and not known[part[0]]:
            continue
        if part[0] == "<tool>" and _has_unlisted_tools(method):
            continue
        raise _refusal(curve, *part, sorted(known[part[0]] - _NO_TOOL))


def _of_method(method: StoredMethod) -> Iterator[tuple[JobPart, str]]:
    options = method.options
    listings = [server.get("listing") for server in options.get("mcp_servers") or ()]
    listed = [tool for listing in listings if listing for tool in listing["tools"]]
    for tool in (*(options.get("tools") or ()), *listed):
        yield "<tool>", str(tool.get("name"))
    for child in (method.grader or {}).get("graders") or ():
        yield "<child>", child


def _has_unlisted_tools(method: StoredMethod) -> bool:
    servers = method.options.get("mcp_servers") or ()
    in_environment = (method.options.get("environment") or {}).get("type") == HTTP
    return in_environment or not all(server.get("listing") for server in servers)


def _refusal(curve: str, kind: JobPart, name: str, known: list[str]) -> InvalidRequest:
    before, one, several = _PARTS[kind]
    near = get_close_matches(
        name[:_COMPARED], [each[:_COMPARED] for each in known], n=1, cutoff=_SIMILARITY
    )
    after = curve[len(before) + len(name) :]
    hint = f" Did you mean '{before}{near[0]}{after}'?" if near else ""
    listed = ", ".join(f"'{each}'" for each in known[:_SHOWN])
    more = ", …" if len(known) > _SHOWN else ""
    has = f"has the {several} {listed}{more}" if known else f"has no {several}"
    return InvalidRequest(
        f"Invalid value for 'names': no curve is called '{curve[:_COMPARED]}', because the job has "
        f"no {one} '{name[:_COMPARED]}'.{hint} The job {has}.",
        param="names",
        code="invalid_value",
    )


WHOLE: Final = 512
"""Points up to which a curve is read whole."""
BLOCK_SIZES: Final = (8, 32, 128, 512, 2048)
"""Steps of a block. Triggers fill these sizes, see `migrations/initial/curve_blocks.py`."""
_MOST_BLOCKS: Final = 256
"""Blocks of an outline, up to which a size is chosen. The largest size has no limit."""

CurveKey = tuple[str, Split]


@dataclass(frozen=True, slots=True)
class CurveSummary:
    job_id: str
    name: str
    split: Split
    points: int
    total: float
    first: MetricPoint
    last: MetricPoint

    @property
    def key(self) -> CurveKey:
        return self.name, self.split

    @property
    def ends(self) -> list[MetricPoint]:
        return [self.first, self.last] if self.points > 1 else [self.first]

    @property
    def is_long(self) -> bool:
        return self.points > WHOLE


@dataclass(frozen=True, slots=True)
class OutlinedCurves:
    packed: Sequence[PackedCurve]
    summaries: Sequence[CurveSummary]

    def read(self) -> dict[CurveKey, dict[int, float]]:
        """An outline gets the first point of its curve."""
        first = {one.key: one.first for one in self.summaries}
        read: dict[CurveKey, dict[int, float]] = {}
        for one in self.packed:
            start = first[one.name, one.split]
            read[one.name, one.split] = {start.step: start.value, **one.read()}
        return read

    @property
    def every(self) -> dict[str, int]:
        """Steps between two points that outlines of training share, by name of the curve."""
        return {one.name: one.every for one in self.packed if one.split == "train"}


def block_size(summaries: Sequence[CurveSummary]) -> int:
    """Returns the steps of a block in the outlines of a job; 1 if all of its curves are whole."""
    ends = [one.last.step for one in summaries if one.is_long]
    if not ends:
        return 1
    fitting = (size for size in BLOCK_SIZES if max(ends) < size * _MOST_BLOCKS)
    return next(fitting, BLOCK_SIZES[-1])


_Item = TypeVar("_Item")


def thin(items: Sequence[_Item], count: int) -> list[_Item]:
    """Returns at most `count` evenly spaced items with the first and the last; one is the last."""
    if len(items) <= count:
        return list(items)
    if count == 1:
        return [items[-1]]
    last = len(items) - 1
    return [items[round(index * last / (count - 1))] for index in range(count)]


def extremes(values: Sequence[float], count: int) -> list[int]:
    """Returns the indices of at most `count` values such that no spike is lost: the first, the
    last, and the extremes of stretches of equal length. With a `count` of 1 only the last.
    """
    last = len(values) - 1
    if len(values) <= count:
        return list(range(len(values)))
    if count == 1:
        return [last]
    stretches = (count - 2) // 2
    between = range(1, last)
    chosen = {0, last}
    for _, indices in groupby(between, lambda index: (index - 1) * stretches // (last - 1)):
        if stretches:
            each = list(indices)
            chosen |= {min(each, key=values.__getitem__), max(each, key=values.__getitem__)}
    return sorted(chosen)


FindingSeverity = Literal["good", "unclear", "warn"]
GRAVEST_FIRST: Final[tuple[FindingSeverity, ...]] = ("warn", "unclear", "good")


@dataclass(frozen=True, slots=True)
class Finding:
    severity: FindingSeverity
    text: str
    curve: str


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
    """Returns at how many validations the gain was evaluated; of an ended job at the last only."""
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
        severity: FindingSeverity = "unclear"
        text = f"The validation loss has hardly moved: {way}."
        if f"{valid[first]:.3g}" != f"{valid[last]:.3g}":
            severity = "good" if watched.gain(valid[last], valid[first]) > 0 else "warn"
            text = f"The validation loss went {way}."
        yield Finding(severity, text, watched.valid)
        return
    if judges:
        yield Finding("unclear", _judged_apart("validations do", judges), watched.valid)
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


_SEVERITIES: Final[Mapping[Verdict, FindingSeverity]] = {
    "gain": "good",
    "no_clear_gain": "unclear",
    "loss": "warn",
    "not_measured": "unclear",
}
NO_REPORT: Final = "No report compares the tuned model with the start, so no gain is shown."


def report_finding(report: Mapping[str, Any]) -> Finding:
    verdict, text = read_verdict(report)
    return Finding(_SEVERITIES[verdict], " ".join([text, *_answers(report)]), "")


def read_verdict(report: Mapping[str, Any] | None) -> tuple[Verdict, str]:
    """Returns what a job's report says of its gain, and the sentence with the numbers."""
    if report is None:
        return "not_measured", NO_REPORT
    verdict, text = _compared(report)
    fall = _less_probable(report)
    return ("loss", f"{fall} {text}") if fall else (verdict, text)


def _less_probable(report: Mapping[str, Any]) -> str:
    change = (report.get("chosen_logprob") or {}).get("difference")
    if change is None or change >= -names.TIE:
        return ""
    pairs = f"{report.get('chosen_less_probable')} of {report.get('rows')} pairs"
    return f"The preferred answers became less probable, by {-change:.3g} nats, in {pairs}."


def _answers(report: Mapping[str, Any]) -> Iterator[str]:
    """Yields what sampled answers say; a report of pairs compares only given ones by itself."""
    evals = report.get("evals")
    if evals == [] and report.get("wins_by") == "logprob_order":
        yield "No answers were sampled: attach an eval to compare those of both models."
    for one in evals or ():
        bounds, items = one.get("difference_ci95"), one.get("items")
        if one.get("difference") is None:
            yield f"The answers in eval {one['eval_id']} are not compared yet."
        else:
            gain = Gain(one["difference"], bounds and (bounds[0], bounds[1]), items)
            yield f"The sampled answers in eval {one['eval_id']} have a gain of {gain.words}."


def _compared(report: Mapping[str, Any]) -> tuple[Verdict, str]:
    decisive = report.get("wins_by")
    name = "preference_accuracy" if decisive == "logprob_order" else str(decisive)
    if name not in _WORDS or not report.get(name):
        name = next((one for one in _WORDS if report.get(one)), "")
    compared = report.get(name) or {}
    if name == "reward" and report.get("judged_apart"):
        return "not_measured", _judged_apart("report does", report["judged_apart"])
    if compared.get("difference") is None:
        return "not_measured", "The report has no row to compare."
    # A report has tuned less start; of a loss, less is better.
    sign = -1 if name == "loss" else 1
    bounds = sorted(sign * bound for bound in compared.get("difference_ci95") or ())
    interval = (bounds[0], bounds[1]) if bounds else None
    gain = Gain(sign * compared["difference"], interval, report.get("rows"))
    if not gain.is_clear:
        return "no_clear_gain", f"No clear gain in {_WORDS[name]}: {gain.words}."
    verdict: Verdict = "gain" if gain.mean > 0 else "loss"
    return verdict, f"The report has a {verdict} in {_WORDS[name]} of {gain.words}."


def _judged_apart(what: str, judges: Sequence[str]) -> str:
    return (
        f"The {what} not show the gain: {', '.join(judges)} judged base and tuned model in groups "
        "of their own, whose scores are not comparable. Run an eval with a grader of single "
        "answers."
    )


def _unpaired(
    watched: ObjectiveCurves, curves: Curves, *, steps: tuple[int, int], looks: int, samples: int
) -> Gain:
    """For rollouts that are no longer stored. Independent values: as many as rows."""
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
    between: Mapping[str, Curve] | None = None
    """By name and step of the validation; `None` if no curve has a gap."""


NO_GAPS: Final = CurveGaps()


def rule_findings(
    method: StoredMethod, watched: ObjectiveCurves, curves: Curves, gaps: CurveGaps = NO_GAPS
) -> Iterator[Finding]:
    solved = is_solved(watched, curves, gaps)
    for name, rule in _rules(method):
        detector = build_detector(rule, watched)
        reason = _last_reason(detector, curves, gaps)
        if reason is not None and not (solved and rule.action in rule.moot_when_solved):
            severity: FindingSeverity = "good" if name in GOOD_NEWS else "warn"
            text = f"{reason[:1].upper()}{reason[1:]}."
            yield Finding(severity, text, next(iter(detector.curves), watched.valid))


def is_solved(watched: ObjectiveCurves, curves: Curves, gaps: CurveGaps) -> bool:
    return _last_reason(SolvedDetector(watched), curves, gaps) is not None


def _last_reason(detector: RuleDetector, curves: Curves, gaps: CurveGaps) -> str | None:
    read = curves_of(detector, {name for name, _ in curves})
    end_of_gap = max((gaps.ends.get(curve, 0) for curve in read), default=0)
    before, reason = -1, None
    for seen in _replayed(detector, curves, read, between=gaps.between):
        if before < end_of_gap <= seen.step and detector.reads != "validations":
            detector.reset()
        reason, before = detector.see(seen), seen.step
    return reason


def edge_points(method: StoredMethod) -> int:
    windows = (getattr(rule, "steps", 0) for _, rule in _rules(method))
    return max(FEWEST_EDGE_POINTS, *windows, 0)


def _rules(method: StoredMethod) -> Iterator[tuple[str, StopRule]]:
    options = _stop_options(method)
    if options is None:
        return
    for name in type(options).model_fields:
        rule = getattr(options, name)
        if rule is not None and rule.action != "off" and name not in ("max_steps", "max_time"):
            yield name, rule


_STOP_OPTIONS: Final[Mapping[MethodType, type[StopOptions]]] = {
    "supervised": StopOptions,
    "dpo": PreferenceStopOptions,
    "reinforcement": ReinforcementStopOptions,
}


def _stop_options(method: StoredMethod) -> StopOptions | None:
    """Returns the job's rules; `None` for options of an older job that are refused today."""
    try:
        return _STOP_OPTIONS[method.kind].model_validate(method.options.get("stop") or {})
    except ValidationError:
        return None


def _replayed(
    detector: RuleDetector,
    curves: Curves,
    read: Sequence[str],
    *,
    between: Mapping[str, Curve] | None,
) -> Iterator[StepValues]:
    train = _of_split(curves, "train", read)
    if between is not None and detector.reads == "validations":
        train = [(name, between[name]) for name in read if name in between]
    trained = _by_step(train)
    valid = _by_step(_of_split(curves, "valid", read))
    steps: Iterable[int] = sorted({*trained, *valid})
    if detector.reads == "steps" and not trained:
        steps = range(max((step for curve in curves.values() for step in curve), default=0) + 1)
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


@dataclass(frozen=True, slots=True)
class CurvesOfJob:
    outlined: OutlinedCurves
    edges: Sequence[PackedCurve]
    whole: Sequence[PackedCurve]
    between: Sequence[PackedCurve]
    count: int

    def read(self, outlines: Curves) -> tuple[Curves, CurveGaps]:
        whole = {**outlines, **_read(self.whole)}
        if not self.edges:
            return whole, NO_GAPS
        edges = _read(self.edges)
        ends = {name: sorted(curve)[self.count] for (name, _), curve in edges.items()}
        between: dict[str, Curve] = {one.name: one.read() for one in self.between}
        return {**whole, **edges}, CurveGaps(ends, between)

    def ends(self, names: Collection[str]) -> list[MetricPoint]:
        return [point for one in self.outlined.summaries if one.name in names for point in one.ends]


def _read(packed: Sequence[PackedCurve]) -> Curves:
    return {(one.name, one.split): one.read() for one in packed}


_WINDOW: Final = 5
"""Number of latest steps for shares of lost rollouts and failing calls."""
_NOTABLE: Final = 0.05
_MOST_GROUPS: Final = 0.5
_RISE: Final = 0.05
_FALL: Final = 0.7


def watched_by(method: StoredMethod) -> ObjectiveCurves:
    return REWARD if method.kind == "reinforcement" else LOSSES


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
    watched = _watched(method)
    found = [*rule_findings(method, watched, curves, gaps), *_lost(curves), *_tool_errors(curves)]
    found += _fewer_calls(curves)
    if not is_solved(watched, curves, gaps):
        found += _groups(curves)
    found += progress(
        watched,
        curves,
        gain,
        looks=looks,
        samples=_samples(method),
        judges=judged_apart(method),
    )
    return sorted(found, key=lambda one: GRAVEST_FIRST.index(one.severity))


def curves_of_findings(method: StoredMethod, existing: Collection[str]) -> set[str]:
    read = {names.REWARD_MEAN, names.TOOL_CALLS_MEAN, names.ROLLOUTS_VALID}
    read |= {names.GROUPS_ZERO_VARIANCE, names.GROUPS_TRAINED}
    read |= {curve for detector in _detectors(method) for curve in curves_of(detector, existing)}
    for name in existing:
        metric = names.ToolMetric.parse(name)
        of_calls = metric is not None and metric.quantity in ("errors", "calls_mean")
        if of_calls or names.discarded_class(name) is not None:
            read.add(name)
    return read.intersection(existing)


def reductions_of(method: StoredMethod) -> dict[str, Reduction]:
    return {
        name: reduction
        for detector in _detectors(method)
        for name, reduction in detector.reductions.items()
    }


def _detectors(method: StoredMethod) -> list[RuleDetector]:
    watched = _watched(method)
    detectors = [build_detector(rule, watched) for _, rule in _rules(method)]
    return [*detectors, SolvedDetector(watched)]


def score_range(method: StoredMethod) -> tuple[float, float] | None:
    return _watched(method).scores


def judged_apart(method: StoredMethod) -> list[str]:
    grader = _grader(method)
    return [] if grader is None else paths_of_judges(grader, f"method.{method.kind}")


def _watched(method: StoredMethod) -> ObjectiveCurves:
    grader = _grader(method)
    return watched_by(method) if grader is None else reward_of(grader)


def _grader(method: StoredMethod) -> AnyGrader | None:
    """Returns `None` also for a definition of an older job that is refused today."""
    try:
        return read_grader(method.options["grader"])
    except (KeyError, ValidationError):
        return None


def _samples(method: StoredMethod) -> int:
    samples = (method.options.get("hyperparameters") or {}).get("eval_samples")
    return samples if isinstance(samples, int) and samples > 0 else 1


def _lost(curves: Curves) -> Iterator[Finding]:
    train = _latest(curves.get((names.ROLLOUTS_VALID, "train"), _NOTHING))
    valid = _latest(curves.get((names.ROLLOUTS_VALID, "valid"), _NOTHING))[-1:]
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
    total = count + _sum(curves.get((names.ROLLOUTS_VALID, of), _NOTHING), steps)
    if not count or count / total < _NOTABLE:
        return
    parts = ", ".join(
        f"{n / total:.0%} {kind}" for kind, n in sorted(by_class.items(), key=lambda one: -one[1])
    )
    text = f"{count / total:.0%} of the rollouts {what} were lost: {parts}."
    yield Finding("warn", text, names.DISCARDED_SHARE)


def _tool_errors(curves: Curves) -> Iterator[Finding]:
    rollouts = curves.get((names.ROLLOUTS_VALID, "train"), _NOTHING)
    steps = _latest(rollouts)
    for (name, split), errors in curves.items():
        metric = names.ToolMetric.parse(name)
        if metric is None or split != "train" or metric.quantity != "errors":
            continue
        if metric.tool.startswith("("):  # no tool: calls of unknown names, and unparsable ones
            continue
        mean = curves.get((names.tool_metric(metric.tool, "calls_mean"), "train"), _NOTHING)
        calls = sum(mean.get(step, 0.0) * rollouts[step] for step in steps)
        failed = _sum(errors, steps)
        if failed and calls and failed / calls >= _NOTABLE:
            yield Finding(
                "warn",
                f"{metric.tool} answers {failed / calls:.0%} of its calls with an error.",
                name,
            )


def _groups(curves: Curves) -> Iterator[Finding]:
    flat = curves.get((names.GROUPS_ZERO_VARIANCE, "train"), _NOTHING)
    trained = curves.get((names.GROUPS_TRAINED, "train"), _NOTHING)
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
    reward = curves.get((names.REWARD_MEAN, "train"), _NOTHING)
    calls = curves.get((names.TOOL_CALLS_MEAN, "train"), _NOTHING)
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
