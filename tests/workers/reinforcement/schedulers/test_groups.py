"""The rollouts of each group that train, and their advantages."""

from dataclasses import replace
from typing import Any

import pytest

from app.rollouts import metrics as names
from tests.support.cases import cases
from tests.support.reinforcement.scored_rollouts import scored, scored_group, tool_call
from workers.learning.advantages import ShapingConfig
from workers.methods.schedulers.mode import (
    GroupConfig,
    group_counts,
    objective_means,
    prepare,
    rollouts_of,
    samples_of,
    settled_groups,
)

MIXED = [
    scored(("train", 1, 4, 0), 1.0),
    scored(("train", 1, 4, 1), 0.0),
    scored(("train", 1, 4, 2), None),
    scored(("train", 1, 4, 3), 0.5),
]
EQUAL = [scored(("train", 1, 2, n), 0.5) for n in range(4)]
THIN = [
    scored(("train", 1, 9, 0), 1.0),
    scored(("train", 1, 9, 1), None),
    scored(("train", 1, 9, 2), None),
    scored(("train", 1, 9, 3), 0.0),
]
PLAIN = GroupConfig(min_group_share=0.75, shaping=ShapingConfig(token_penalty=0.0))


def test_lost_rollouts_leave_mean_and_batch_and_thin_groups_train_nothing() -> None:
    groups = [prepare(scored_group(rollouts), PLAIN) for rollouts in (MIXED, EQUAL, THIN)]
    samples = samples_of(groups)
    # Of the first group the three graded ones train, around their own mean of 0.5, not 0.375.
    assert [sample.advantage for sample in samples] == pytest.approx([0.5, -0.5, 0.0])
    assert group_counts(groups) == {
        names.GROUPS_TRAINED: 1.0,
        names.GROUPS_ZERO_VARIANCE: 1.0,
        names.GROUPS_MASKED: 1.0,
    }
    assert (samples[0].tokens, samples[0].mask) == ([1, 2, 3, 10, 11], [0, 0, 0, 1, 1])
    assert rollouts_of(groups) == [*MIXED, *EQUAL, *THIN]


def test_a_longer_answer_of_equal_reward_is_worth_a_little_less() -> None:
    group = [
        scored(("train", 1, 0, 0), 1.0, sampled=2),
        scored(("train", 1, 0, 1), 1.0, sampled=10),
        scored(("train", 1, 0, 2), 0.0, sampled=2),
    ]
    shaping = ShapingConfig(token_penalty=0.1, token_budget=10)
    prepared = prepare(scored_group(group), GroupConfig(min_group_share=0.75, shaping=shaping))
    samples = prepared.samples
    values = [0.98, 0.9, -0.02]
    mean = sum(values) / 3
    known = [(each.shaped_reward, each.advantage) for each in prepared.trained_rollouts]
    assert known == [pytest.approx((value, value - mean)) for value in values]
    assert [s.advantage for s in samples] == pytest.approx([value - mean for value in values])


@cases("estimator", ["centred", "std", "leave_one_out", "batch_std"])
@cases("better", [0.91, 0.900001])
def test_a_longer_answer_of_better_reward_stays_the_better_one(
    estimator: str, better: float
) -> None:
    """With every default of a job: a grader may have fine steps."""
    rewards = [(0.9, 100), (better, 1024), (0.9, 300)]
    group = [
        scored(("train", 1, 0, n), reward, sampled=sampled)
        for n, (reward, sampled) in enumerate(rewards)
    ]
    config = GroupConfig(min_group_share=0.75, shaping=ShapingConfig(), estimator=estimator)
    samples = samples_of(settled_groups([prepare(scored_group(group), config)], config))
    short, long, middle = (sample.advantage for sample in samples)
    assert long > 0 > short > middle, "of equals the shorter one"


ALL_RIGHT = [
    scored(("train", 1, 7, 0), 1.0, calls=(tool_call(), tool_call(repeated=True)), sampled=4),
    scored(("train", 1, 7, 1), 1.0, calls=(tool_call(),), sampled=8),
    scored(("train", 1, 7, 2), 1.0, sampled=2),
]


@cases(
    ("terms", "lost"),
    [
        ({}, None),
        ({"token_penalty": 0.1, "token_budget": 10}, None),
        ({"call_budget": 0, "call_budget_penalty": 0.3}, [0.6, 0.3, 0.0]),
        ({"repeated_call_penalty": 0.2}, [0.2, 0.0, 0.0]),
    ],
)
def test_a_penalty_that_a_user_set_trains_a_group_of_equal_rewards(
    terms: dict[str, Any], lost: list[float] | None
) -> None:
    config = replace(PLAIN, shaping=ShapingConfig(**{"token_penalty": 0.0, **terms}))
    group = prepare(scored_group(ALL_RIGHT), config)
    if lost is None:
        assert (group.status, group.samples) == ("zero_variance", [])
        return
    mean = sum(lost) / 3
    assert [s.advantage for s in group.samples] == pytest.approx([mean - each for each in lost])
    means = objective_means([group, prepare(scored_group(EQUAL), PLAIN)])
    assert means[names.OBJECTIVE_MEAN] == pytest.approx((3 - sum(lost) + 4 * 0.5) / 7)
    (term,) = (name for name, value in means.items() if value and name != names.OBJECTIVE_MEAN)
    assert term.removeprefix("objective/").removesuffix("_mean") in terms
    assert means[term] == pytest.approx(sum(lost) / 7)


@cases(
    ("estimator", "expected"),
    [
        ("centred", [0.5, -0.5, 0.0]),
        ("std", [0.5 / 0.500001, -0.5 / 0.500001, 0.0]),
        ("leave_one_out", [0.75, -0.75, 0.0]),
    ],
)
def test_the_config_selects_the_estimator(estimator: str, expected: list[float]) -> None:
    config = replace(PLAIN, estimator=estimator)
    groups = [prepare(scored_group(rollouts), config) for rollouts in (MIXED, EQUAL, THIN)]
    for samples in (samples_of(groups), samples_of(settled_groups(groups, config))):
        assert [sample.advantage for sample in samples] == pytest.approx(expected)
        assert [sample.group for sample in samples] == [(1, 4)] * 3


def test_what_is_divided_by_the_steps_deviation_waits_for_the_step() -> None:
    """Rewards 1, 0, 0.5, four of 0.5, 1 and 0 of all three groups: a deviation of √(1/8)."""
    config = replace(PLAIN, estimator="batch_std")
    groups = [prepare(scored_group(rollouts), config) for rollouts in (MIXED, EQUAL, THIN)]
    assert group_counts(groups)[names.GROUPS_TRAINED] == 1.0
    spread = 0.125**0.5 + 1e-6
    divided = settled_groups(groups, config)
    samples = samples_of(divided)
    known = [rollout.advantage for group in divided for rollout in group.trained_rollouts]
    assert known == [*(samples[n].advantage for n in (0, 1)), None, 0.0, *[None] * 8]
    assert [s.advantage for s in samples] == pytest.approx([0.5 / spread, -0.5 / spread, 0.0])
    assert [s.tokens for s in samples] == [s.tokens for s in samples_of(groups)]
