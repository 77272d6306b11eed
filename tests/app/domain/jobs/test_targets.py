"""When a validation has reached a target: not by luck, on whatever scale rewards are."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.graders.definitions import read_grader
from app.jobs.stop_options import StopOptions
from app.jobs.stop_rules import REWARD, ObjectiveCurves, Watch, reward_of
from app.rollouts import metrics as names
from tests.support.cases import cases
from tests.support.runs.curves import noisy

UNIT = replace(REWARD, scores=(0.0, 1.0))
MOST = 0.07
"""One in twenty, and two standard deviations of 300 jobs beside what ten looks take of it."""


def _watch(watched: ObjectiveCurves, value: float) -> Watch:
    off = {name: {"action": "off"} for name, rule in StopOptions() if rule is not None}
    return Watch(StopOptions.model_validate({**off, "target": {"value": value}}), watched)


def test_a_target_is_not_reached_by_luck_however_often_it_is_looked_at() -> None:
    """The true reward is 0.7, and the best of 40 validations of 25 rows is mostly above 0.8."""
    generator = random.Random(3)
    reached = passed = 0
    for _ in range(200):
        watch = _watch(UNIT, 0.8)
        means = [0.7 + generator.gauss(0, 0.08) for _ in range(40)]
        seen = noisy(means, deviation=0.4, count=25)
        passed += max(means) > 0.8
        reached += any(watch.feed(step, {}, valid) for step, valid in enumerate(seen, 1))
    assert passed > 190
    assert reached <= 10


def test_a_target_is_reached_where_there_is_no_doubt() -> None:
    watch = _watch(REWARD, 0.8)
    seen = noisy([0.82, 0.84, 0.99], deviation=0.2, count=50)
    assert [bool(watch.feed(step, {}, valid)) for step, valid in enumerate(seen, 1)] == [
        False,
        False,
        True,
    ]


def _share_ended(*, target: float, mean: float, rows: int, jobs: int = 2_000) -> float:
    """Plays jobs that never change, with rewards of 0 and 1 and ten validations each."""
    generator = np.random.default_rng(rows)
    ended = 0
    for right_K in generator.binomial(rows, mean, size=(jobs, 10)):
        watch = _watch(UNIT, target)
        for step, share in enumerate((right_K / rows).tolist(), 1):
            (valid,) = noisy([share], deviation=(share * (1 - share)) ** 0.5, count=rows)
            if watch.feed(step, {}, valid):
                ended += 1
                break
    return ended / jobs


@cases("rows", [8, 50])
@cases("target", [0.5, 0.95])
def test_chance_rarely_ends_a_job_just_below_its_target(rows: int, target: float) -> None:
    """All right or all wrong has no deviation, and is common near the ends of 0…1."""
    assert _share_ended(target=target, mean=target - 0.001, rows=rows) <= 0.05


@cases(("rows", "target", "mean"), [(8, 0.3, 0.95), (20, 0.5, 0.9), (50, 0.8, 0.99)])
def test_a_job_clearly_above_its_target_ends(rows: int, target: float, mean: float) -> None:
    assert _share_ended(target=target, mean=mean, rows=rows, jobs=200) >= 0.95


def _reached(
    draw: Callable[[np.random.Generator], NDArray[np.float64]],
    value: float,
    watched: ObjectiveCurves,
) -> float:
    """Returns the share of 300 jobs of which ten validations, whose true mean is the target, reach
    it.
    """
    generator = np.random.default_rng(5)
    reached = 0
    for _ in range(300):
        watch = _watch(watched, value)
        looks = (
            {
                names.REWARD_MEAN: float(seen.mean()),
                names.REWARD_STD: float(seen.std()),
                names.REWARD_MIN: float(seen.min()),
                names.REWARD_MAX: float(seen.max()),
                names.ROLLOUTS_VALID: float(len(seen)),
            }
            for seen in (draw(generator) for _ in range(11))
        )
        reached += bool([step for step, look in enumerate(looks) if watch.feed(step, {}, look)])
    return reached / 300


@cases("rows", [6, 80])
@cases(("low", "high", "right"), [(0.0, 10.0, 0.95), (-1.0, 1.0, 0.5)])
def test_chance_rarely_reaches_a_target_on_any_scale(
    low: float, high: float, right: float, rows: int
) -> None:
    """Rewards at either end, with the range known, and with the one that was seen."""

    def draw(generator: np.random.Generator) -> NDArray[np.float64]:
        return np.where(generator.random(rows) < right, high, low)

    target = low + right * (high - low)
    assert _reached(draw, target, replace(REWARD, scores=(low, high))) <= MOST
    assert _reached(draw, target, REWARD) <= MOST


@cases("rows", [4, 20])
def test_few_rewards_without_a_range_have_students_error(rows: int) -> None:
    def draw(generator: np.random.Generator) -> NDArray[np.float64]:
        return generator.normal(0.0, 1.0, rows)

    assert _reached(draw, 0.0, REWARD) <= MOST


def _ends(watched: ObjectiveCurves, value: float, *validations: tuple[float, float]) -> bool:
    """Returns whether 100 rollouts that all earned the same end a job, after validations of which
    the lowest and the highest reward are given.
    """
    watch = _watch(watched, value)
    ended = False
    for step, (low, high) in enumerate(validations):
        alike = {names.REWARD_MEAN: high, names.REWARD_STD: 0.0, names.ROLLOUTS_VALID: 100.0}
        ended = bool(watch.feed(step, {}, {**alike, names.REWARD_MIN: low, names.REWARD_MAX: high}))
    return ended


def test_equal_rewards_reach_a_target_only_within_a_range() -> None:
    assert not _ends(REWARD, 5.0, (9.0, 9.0), (9.0, 9.0)), "no known range"
    assert _ends(REWARD, 5.0, (0.0, 9.0), (9.0, 9.0)), "a baseline of 0 has been seen"
    assert not _ends(REWARD, 8.9, (0.0, 9.0), (9.0, 9.0)), "8.9 of 0 to 9 needs more than 100"
    assert _ends(UNIT, 0.9, (1.0, 1.0), (1.0, 1.0))
    assert not _ends(UNIT, 0.99, (1.0, 1.0), (1.0, 1.0))
    assert _ends(UNIT, 1.0, (1.0, 1.0), (1.0, 1.0)), "nothing is better"
    judged = {"type": "score_model", "model": "m", "input": [], "range": [1, 5]}
    judged["input"] = [{"role": "user", "content": "{{sample.output_text}}"}]
    assert reward_of(read_grader(judged)).scores == (1.0, 5.0)
    assert reward_of(read_grader({"type": "endpoint", "url": "https://a.example"})).scores is None
