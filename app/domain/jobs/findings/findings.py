"""Findings about a job in plain words, computed from its committed curves and rollouts. Pure.

Owns the sentences above the charts: the job's own stop rules whose condition holds at its last
step, and shares of lost rollouts, failing calls and groups that train nothing. Promises that rules
are evaluated as in the run. Must not know how a finding is shown.
"""

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from pydantic import ValidationError

from app.domain.graders.graders import AnyGrader, read_grader
from app.domain.ids import Split
from app.domain.jobs.curves.curves import Curve, Curves
from app.domain.jobs.curves.gains import Gain
from app.domain.jobs.findings.finding import GRAVEST_FIRST, Finding
from app.domain.jobs.findings.gain_findings import progress
from app.domain.jobs.findings.rule_findings import (
    NO_GAPS,
    CurveGaps,
    curves_of_rules,
    reductions,
    rule_findings,
)
from app.domain.jobs.stop_rules.curve_detectors import Reduction
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves
from app.domain.jobs.stop_rules.stop_rules import LOSSES, REWARD, reward_of
from app.domain.methods.ineffective_options import paths_of_judges
from app.domain.methods.method_documents import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.domain.rollouts import metrics as names

_WINDOW: Final = 5
"""Number of latest steps for shares of lost rollouts and failing calls."""
_NOTABLE: Final = 0.05
_MOST_GROUPS: Final = 0.5
_RISE: Final = 0.05
_FALL: Final = 0.7
_NOTHING: Final[Curve] = {}


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
    """Yields a finding for each tool whose share of failed calls is notable."""
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
    """Yields a finding when most groups of the latest steps trained nothing."""
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
    """Yields a finding when the reward rose while tool calls fell."""
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
