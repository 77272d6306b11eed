"""When a rule speaks, what it says, and what it has forgotten after a pause."""

from typing import Any

import numpy as np

from app.jobs.stop_options import ReinforcementStopOptions, StopOptions
from app.jobs.stop_rules import (
    LOSSES,
    REWARD,
    ObjectiveCurves,
    RuleTrigger,
    Values,
    Watch,
    decisive_trigger,
)
from app.rollouts import metrics as names
from tests.support.cases import cases
from tests.support.runs.curves import noisy

OFF: dict[str, Any] = {
    name: {"action": "off"}
    for name, rule in ReinforcementStopOptions()
    if rule is not None  # the rules that need a number are off until it is sent
}


NONE: Values = {}
SURE = {names.REWARD_STD: 1e-6, names.ROLLOUTS_VALID: 1e3}
"""Curves of a validation almost without an error."""


def _watch(watched: ObjectiveCurves = REWARD, **rules: Any) -> Watch:
    return Watch(ReinforcementStopOptions.model_validate({**OFF, **rules}), watched)


def _valid(
    watch: Watch, values: list[float | None], *, first: int = 0, beside: Values = NONE
) -> list[tuple[int, str]]:
    """Feed validations, one a step; when what was said."""
    said: list[tuple[int, str]] = []
    for step, value in enumerate(values, first):
        valid = {} if value is None else {**beside, names.REWARD_MEAN: value}
        said += [(firing.step, firing.action) for firing in watch.feed(step, {}, valid)]
    return said


def _train(watch: Watch, name: str, values: list[float | None]) -> list[int]:
    return [
        firing.step
        for step, value in enumerate(values, 1)
        for firing in watch.feed(step, {} if value is None else {name: value})
    ]


def test_a_target_is_reached_by_the_jobs_own_validation_not_by_its_base_model() -> None:
    rewards = [0.9, None, 0.7, None, 0.85]
    assert _valid(_watch(target={"value": 0.8}), rewards, beside=SURE) == [(4, "stop")]


def test_a_plateau_counts_validations_since_the_best_the_base_included() -> None:
    watch = _watch(plateau={"evaluations": 2, "min_improvement": 0.1, "action": "stop"})
    assert _valid(watch, [0.5, 0.6, None, 0.65, None, None, 0.69]) == [(6, "stop")]
    improving = _watch(plateau={"evaluations": 2, "min_improvement": 0.1, "action": "stop"})
    assert _valid(improving, [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]) == []
    flat = _watch(plateau={"evaluations": 1, "min_improvement": 0.0, "action": "stop"})
    assert _valid(flat, [0.5, 0.5]) == [(1, "stop")], "an equal one is not an improvement"


def test_a_plateau_of_losses_is_one_of_no_smaller_values() -> None:
    watch = Watch(StopOptions.model_validate({"plateau": {"evaluations": 2}}), LOSSES)
    said = [
        watch.feed(step, {names.LOSS: 2.0}, {names.LOSS: v})
        for step, v in enumerate([2.0, 1.5, 1.6, 1.7])
    ]
    assert [[firing.rule for firing in found] for found in said] == [[], [], [], ["plateau"]]
    assert said[-1][0].reason == (
        "validation train/loss has not improved by 0.01 in 2 validations (best 1.5 at step 1)"
    )


def test_a_warning_is_given_once_while_its_cause_lasts_and_again_when_it_returns() -> None:
    watch = _watch(zero_variance={"steps": 2})
    flat = {names.GROUPS_TRAINED: 0.0, names.GROUPS_ZERO_VARIANCE: 4.0}
    good = {names.GROUPS_TRAINED: 1.0, names.GROUPS_ZERO_VARIANCE: 3.0}
    lost = {names.GROUPS_TRAINED: 0.0, names.GROUPS_ZERO_VARIANCE: 0.0, names.GROUPS_MASKED: 4.0}
    fed = [flat, lost, flat, flat, good, flat, flat, flat]
    assert [s for s, v in enumerate(fed, 1) if watch.feed(s, v)] == [3, 7]


def test_a_pause_starts_over_and_needs_as_much_again() -> None:
    watch = _watch(plateau={"evaluations": 2, "min_improvement": 0.1, "action": "pause"})
    assert _valid(watch, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]) == [(2, "pause"), (4, "pause")]
    tokens = _watch(token_growth={"ratio": 2.0, "steps": 2, "action": "pause"})
    lengths: list[float | None] = [10, 10, 30, 30, 30, None, 30, 30]
    assert _train(tokens, names.COMPLETION_TOKENS_MEAN, lengths) == [4, 7]


@cases(
    ("rules", "steps"),
    [
        ({"target": {"value": 0.79, "action": "pause"}}, [3]),
        ({"target": {"value": 0.79}}, [3]),
        ({"max_steps": {"steps": 2, "action": "pause"}}, [2]),
        ({"max_time": {"seconds": 7.5, "action": "pause"}}, [4]),
    ],
)
def test_a_fixed_value_is_reached_once(rules: dict[str, Any], steps: list[int]) -> None:
    watch = _watch(**rules)
    rewards = [0.1, 0.7, 0.8, 0.9, 0.5, 0.9] if "pause" in str(rules) else [0.1, 0.7, 0.8]
    found = [
        firing.step
        for step, reward in enumerate(rewards, 1)
        for firing in watch.feed(step, {names.TIME_STEP: 2.0}, {**SURE, names.REWARD_MEAN: reward})
    ]
    assert found == steps


def test_a_gap_is_of_the_training_since_the_validation_before() -> None:
    watch = _watch(gap={"threshold": 0.25, "evaluations": 2, "action": "stop"})
    fed: list[tuple[float | None, float | None]] = [
        (0.4, None), (0.6, 0.4), (0.6, None), (0.8, 0.4), (None, None), (0.7, 0.4), (0.9, 0.6),
    ]  # fmt: skip
    said: list[RuleTrigger] = []
    for step, (train, valid) in enumerate(fed, 1):
        said += watch.feed(
            step,
            {} if train is None else {names.REWARD_MEAN: train},
            {} if valid is None else {names.REWARD_MEAN: valid},
        )
    # 0.5 - 0.4, 0.7 - 0.4, 0.7 - 0.4: the second wide one in succession is at step 6.
    assert [(firing.step, firing.rule) for firing in said] == [(6, "gap")]
    assert "is 0.3 better than validation" in said[0].reason


def test_tokens_are_compared_with_the_first_steps() -> None:
    watch = _watch(token_growth={"ratio": 1.5, "steps": 2})
    lengths: list[float | None] = [10, 20, 22, 22, 22, 23, 10]
    assert _train(watch, names.COMPLETION_TOKENS_MEAN, lengths) == [6]


def test_values_that_are_fed_again_give_the_same_triggers() -> None:
    rules: dict[str, Any] = {"plateau": {"evaluations": 1, "action": "pause"}}
    values: list[float | None] = [0.5, None, 0.4, 0.3, None, 0.6, 0.6]
    whole = _watch(**rules)
    said = _valid(whole, values)
    for cut in range(len(values)):
        again = _watch(**rules)
        assert _valid(again, values[:cut]) + _valid(again, values[cut:], first=cut) == said


def test_stopping_outweighs_a_pause_and_off_fires_nothing() -> None:
    both = _watch(
        max_steps={"steps": 1}, target={"value": 0.1, "action": "pause"}, max_time={"seconds": 9}
    )
    found = both.feed(1, {}, {**SURE, names.REWARD_MEAN: 0.5})
    worst = decisive_trigger(found)
    assert worst is not None
    assert [firing.rule for firing in found] == ["target", "max_steps"]
    assert (worst.rule, worst.action, worst.reason) == ("max_steps", "stop", "1 steps are done")
    assert decisive_trigger([RuleTrigger("gap", "warn", 1, "")]) is None
    assert _valid(_watch(), [0.5] * 50) == []


def test_a_gap_is_beyond_the_error_of_its_validation() -> None:
    """Both rewards are 0.5, of 8 held-out rows: 21 of 100 jobs were warned of a gap of 0.2."""
    generator = np.random.default_rng(8)
    warned = 0
    for _ in range(200):
        watch = _watch(gap={})
        said = []
        for step in range(1, 11):
            right = generator.random(8) < 0.5
            (valid,) = noisy([float(right.mean())], deviation=float(right.std()), count=8)
            said += watch.feed(step, {names.REWARD_MEAN: 0.5}, valid)
        warned += bool(said)
    assert warned <= 0.05 * 200
    certain = _watch(gap={"evaluations": 1})
    (valid,) = noisy([0.5], deviation=0.5, count=101)
    assert not certain.feed(1, {names.REWARD_MEAN: 0.74}, valid), "0.2, and an error of 0.05"
    assert certain.feed(2, {names.REWARD_MEAN: 0.76}, valid)


def test_one_lucky_validation_makes_no_plateau_of_a_curve_that_rises() -> None:
    watch = _watch(plateau={"evaluations": 3, "action": "warn"})
    rising = [0.5, 0.52, 0.75, 0.66, 0.69, 0.72, 0.7, 0.74]
    seen = noisy(rising, deviation=0.4, count=16)
    assert not any(watch.feed(step, {}, valid) for step, valid in enumerate(seen))
    flat = _watch(plateau={"evaluations": 3, "action": "warn"})
    seen = noisy([0.5, 0.52, 0.6, 0.45, 0.48, 0.44, 0.47, 0.46], deviation=0.4, count=16)
    assert any(flat.feed(step, {}, valid) for step, valid in enumerate(seen))
