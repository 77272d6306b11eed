"""The table of a chart: its lines, and the steps that are its rows. Pure.

A chart is a table first, and the script draws it from that table. A reader without a script, or
with a screen reader, has every value, and both show the same. Lines of a long job are outlines:
at a step where one of them is lowest or highest the others may have no value in the table.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from app.jobs.findings import Curve, Curves, extremes, thin
from app.jobs.stop_rules import ObjectiveCurves
from app.kit.ids import Split
from app.rollouts import metrics as names

COLOURS: Final = 8
"""Largest number of lines with a colour of their own; `charts.js` has as many."""
ChartMark = Literal["line", "points", "rule", "edge"]
"""`edge`: one of two lines between which a band is drawn."""
SHOWN_STEPS: Final = 150
"""Evenly spaced steps of a chart, and validations beside them; more would not show."""
_SPIKES: Final = 150
"""Further steps, shared by the lines: those of outliers between two shown steps."""
_FEWEST_SHARED: Final = 16
"""Shared steps below which an outline is thinned by its own points: it has points at few steps."""
_ENDS_AND_EXTREMES: Final = 4
"""A line's two ends, its lowest and its highest value."""


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    curve: str
    values: Curve
    mark: ChartMark = "line"
    every: int = 1
    """Number of steps of a block, if `values` is an outline."""

    @property
    def shared_steps(self) -> list[int]:
        shared = [step for step in self.values if (step + 1) % self.every == 0]
        return shared if len(shared) >= _FEWEST_SHARED else list(self.values)


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    unit: str
    lines: Sequence[Line]

    @property
    def steps(self) -> list[int]:
        points = {step for line in self.lines if line.mark == "points" for step in line.values}
        steps = {step for line in self.lines for step in line.values}
        shown = set(thin(sorted(points), SHOWN_STEPS))
        for every in {line.every for line in self.lines}:
            alike = [line for line in self.lines if line.every == every]
            shared = {step for line in alike for step in line.shared_steps}
            shown.update(thin(sorted(shared), SHOWN_STEPS))
        if len(shown) < len(steps):
            for line in self.lines:
                shown |= _spikes(line.values, _SPIKES // len(self.lines))
        return sorted(shown)

    @property
    def summary(self) -> str:
        steps = {step for line in self.lines for step in line.values}
        lines = "; ".join(map(_in_words, self.lines))
        return f"{lines}; steps {min(steps)} to {max(steps)}."


def _spikes(curve: Curve, count: int) -> set[int]:
    steps = sorted(curve)
    values = [curve[step] for step in steps]
    return {steps[index] for index in extremes(values, max(count, _ENDS_AND_EXTREMES))}


def _in_words(line: Line) -> str:
    first, last = (line.values[end(line.values)] for end in (min, max))
    if line.mark == "rule" or len(line.values) == 1:
        return f"{line.label} {last:.4g}"
    return f"{line.label} from {first:.4g} to {last:.4g}"


_OF_STEPS: Final = ("line", "edge")
"""Marks of training curves."""
_NOTHING: Final[Curve] = {}
_WHOLE: Final[Mapping[str, int]] = {}
_OF_PARTS: Final = (
    ("components", "Grader's components", names.component_metric("")),
    ("tags", "Reward by tag", names.tag_metric("")),
)
_ROLLOUT: Final = "mean a rollout"
_SHARE: Final = "share"


def charts(
    curves: Curves, watched: ObjectiveCurves, every: Mapping[str, int] = _WHOLE
) -> list[Chart]:
    made = [
        _outcome(curves, watched),
        _lost(curves),
        *_of_rollouts(curves),
        *_fixed(curves, _OF_TRAINING),
    ]
    return [_outlined(chart, every) for chart in made if chart.lines]


def _outlined(chart: Chart, every: Mapping[str, int]) -> Chart:
    lines = [
        replace(line, every=every.get(line.curve, 1)) if line.mark in _OF_STEPS else line
        for line in chart.lines
    ]
    return replace(chart, lines=lines)


def chart_of(curve: str, made: Sequence[Chart]) -> str | None:
    shown = (chart.id for chart in made if any(line.curve == curve for line in chart.lines))
    return next(shown, None)


def _outcome(curves: Curves, watched: ObjectiveCurves) -> Chart:
    by_reward = watched.valid == names.REWARD_MEAN
    valid = curves.get((watched.valid, "valid"), _NOTHING)
    steps = [*curves.get((watched.train, "train"), _NOTHING), *valid]
    before = {min(steps): valid[0], max(steps): valid[0]} if 0 in valid else _NOTHING
    lines = (
        _line(curves, "training", watched.train),
        _line(curves, "validation", watched.valid, split="valid"),
        _line(curves, "validation, greedy", watched.valid, split="valid_greedy"),
        _line(curves, "a few held-out rows", names.BATCH_LOSS, split="valid"),
        Line("before training", watched.valid, before, "rule"),
        *(_band(curves) if by_reward else ()),
    )
    title, unit = ("Reward", _ROLLOUT) if by_reward else ("Loss", "mean a token")
    return Chart("outcome", title, unit, _present(lines))


def _band(curves: Curves) -> list[Line]:
    labels = {"90th percentile": names.REWARD_P90, "10th percentile": names.REWARD_P10}
    edges = {name: curves.get((name, "train"), _NOTHING) for name in labels.values()}
    if not all(edges.values()):
        return []
    return [Line(label, name, edges[name], "edge") for label, name in labels.items()]


def _lost(curves: Curves) -> Chart:
    graded = curves.get((names.ROLLOUTS_VALID, "train"), _NOTHING)
    lost = curves.get((names.DISCARDED_COUNT, "train"), _NOTHING)
    lines = [
        _line(curves, "all", names.DISCARDED_SHARE),
        _line(curves, "validation", names.DISCARDED_SHARE, split="valid"),
    ]
    for name, curve in _train(curves):
        failure_class = names.discarded_class(name)
        if failure_class is not None:
            # Outlines need not have the same steps.
            shares = {
                step: count / (graded[step] + lost[step])
                for step, count in curve.items()
                if count and step in graded and step in lost
            }
            lines.append(Line(failure_class, name, shares))
    return Chart("lost", "Lost rollouts", _SHARE, _present(lines))


def _of_rollouts(curves: Curves) -> Iterator[Chart]:
    for chart_id, title, head in _OF_PARTS:
        parts = [Line(name.removeprefix(head), name, curve) for name, curve in _below(curves, head)]
        yield Chart(chart_id, title, _ROLLOUT, parts)
    calls = [_line(curves, "all tools", names.TOOL_CALLS_MEAN), *_tools(curves, "calls_mean")]
    yield Chart("tool_calls", "Tool calls", _ROLLOUT, _present(calls))
    for chart_id, title, unit, quantity in _OF_TOOLS:
        yield Chart(chart_id, title, unit, _tools(curves, quantity))
    yield from _fixed(curves, _OF_ROLLOUTS)


_OF_TOOLS: Final = (
    ("latency", "Tool latency", "mean s a call", "latency_s_mean"),
    ("tool_errors", "Tool errors", "calls a step", "errors"),
    ("reply_tokens", "Tokens of a tool's reply", "mean a call", "tokens_per_call"),
)
_OF_ROLLOUTS: Final = (
    ("tokens", "Tokens", _ROLLOUT),
    ("environment", "Environment", _ROLLOUT),
    ("groups", "Groups", "groups a step"),
    ("limits", "Ends at a limit, errors of graders", _SHARE),
    ("unparsable", "Turns that could not be parsed", _ROLLOUT),
)
_OF_TRAINING: Final = (
    ("entropy", "Entropy", "nats a token"),
    ("distance", "Distance (KL)", "nats a token"),
    ("clipped", "Clipped, masked and truncated tokens", _SHARE),
    ("grad_norm", "Gradient norm", "before clipping"),
    ("learning_rate", "Learning rate", "of the step"),
    ("preference", "Preferred answers", "share of pairs"),
    ("staleness", "Staleness", "versions"),
    ("time", "Time of a step", "s"),
    ("idle", "Waiting", "share of the step"),
)
"""Id, title and unit; the rows of `app.rollouts.metrics` name the curves."""


def _fixed(curves: Curves, listed: Sequence[tuple[str, str, str]]) -> Iterator[Chart]:
    for chart_id, title, unit in listed:
        lines = (_line(curves, label, name) for label, name in names.CHARTED[chart_id].items())
        yield Chart(chart_id, title, unit, _present(lines))


def _line(curves: Curves, label: str, name: str, *, split: Split = "train") -> Line:
    mark: ChartMark = "line" if split == "train" else "points"
    return Line(label, name, curves.get((name, split), _NOTHING), mark)


def _tools(curves: Curves, quantity: str) -> list[Line]:
    metrics = ((name, names.ToolMetric.parse(name)) for name, _ in _below(curves, "tool/"))
    return [
        Line(metric.tool, name, curves[name, "train"])
        for name, metric in metrics
        if metric is not None and metric.quantity == quantity
    ]


def _below(curves: Curves, head: str) -> Iterator[tuple[str, Curve]]:
    return ((name, curve) for name, curve in _train(curves) if name.startswith(head))


def _train(curves: Curves) -> Iterator[tuple[str, Curve]]:
    return ((name, curve) for (name, split), curve in sorted(curves.items()) if split == "train")


def _present(lines: Iterator[Line] | Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.values]
