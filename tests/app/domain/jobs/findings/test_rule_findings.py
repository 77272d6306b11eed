"""The rules of a long job say of its deciding points what they say of all points."""

import random
from collections.abc import Callable
from statistics import fmean

from app.jobs.findings import CurveGaps, edge_points, reductions_of, rule_findings
from app.jobs.methods import stored_method
from app.jobs.stop_rules import REWARD
from app.kit.ids import Split

Curves = dict[tuple[str, Split], dict[int, float]]
STEPS = 2000
REDUCE: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "lowest": min, "highest": max}
METHOD = stored_method(
    {"type": "reinforcement", "reinforcement": {"stop": {"target": {"value": 0.2}}}}
)


def _long_job(seed: int) -> Curves:
    """A job in which about half of the rules hold at the end."""
    chance = random.Random(seed)
    steps = range(1, STEPS + 1)
    end = {
        name: STEPS - chance.choice((0, 2, 5, 20))
        for name in ("entropy", "groups", "calls", "tokens")
    }
    curves: Curves = {
        ("reward/mean", "train"): {step: chance.random() + 0.3 for step in steps},
        ("reward/min", "train"): dict.fromkeys(steps, 0.0),
        ("reward/max", "train"): dict.fromkeys(steps, 1.5),
        ("train/loss", "train"): dict.fromkeys(steps, 0.1),
        ("train/entropy", "train"): {s: 0.01 if s > end["entropy"] else 1.0 for s in steps},
        ("groups/trained", "train"): {s: float(s <= end["groups"]) for s in steps},
        ("groups/zero_variance", "train"): {s: float(s > end["groups"]) for s in steps},
        ("tool_calls/mean", "train"): {s: 0.0 if s > end["calls"] else 3.0 for s in steps},
        ("tokens/completion_mean", "train"): {
            s: 90.0 if s > end["tokens"] else 10.0 for s in steps
        },
    }
    validated = range(0, STEPS + 1, chance.choice((100, 333, 1000)))
    curves["reward/mean", "valid"] = {s: chance.choice((0.1, 0.6, 0.9)) for s in validated}
    curves["reward/std", "valid"] = dict.fromkeys(validated, 0.1)
    curves["rollouts/valid", "valid"] = dict.fromkeys(validated, 100.0)
    return curves


def _decisive(curves: Curves) -> tuple[Curves, CurveGaps]:
    count = edge_points(METHOD)
    found, ends = dict(curves), dict[str, int]()
    for (name, split), curve in curves.items():
        if split == "train":
            points = sorted(curve.items())
            found[name, split] = dict([*points[:count], *points[-count:]])
            ends[name] = points[-count][0]
    validated = sorted(curves["reward/mean", "valid"])
    between: dict[str, dict[int, float]] = {}
    for name, reduction in reductions_of(METHOD).items():
        own = between.setdefault(name, {})
        for before, step in zip([-1, *validated], validated, strict=False):
            values = [curves[name, "train"][s] for s in range(max(before, 0) + 1, step + 1)]
            if values:
                own[step] = REDUCE[reduction](values)
    return found, CurveGaps(ends, between)


def test_the_points_that_decide_give_the_findings_of_all_points() -> None:
    said = set[str]()
    for seed in range(16):
        whole = _long_job(seed)
        decisive, gaps = _decisive(whole)
        expected = list(rule_findings(METHOD, REWARD, whole))
        assert list(rule_findings(METHOD, REWARD, decisive, gaps)) == expected, seed
        said |= {one.curve for one in expected}
    assert said >= {
        "reward/mean",
        "train/entropy",
        "groups/trained",
        "tool_calls/mean",
        "tokens/completion_mean",
    }
