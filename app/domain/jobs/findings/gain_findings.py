"""Findings about the gain of a job, from its validations and from its report. Pure.

Promises that a gain which may be noise is not reported as success: if its interval contains 0, the
finding says so and shows the interval.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, hypot
from typing import Any, Final

from app.domain.jobs.curves.curves import Curves
from app.domain.jobs.curves.gains import Gain, unpaired_gain
from app.domain.jobs.findings.finding import Finding, FindingSeverity
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves
from app.domain.rollouts import metrics as names
from app.domain.rollouts.metrics import MetricPoint

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
