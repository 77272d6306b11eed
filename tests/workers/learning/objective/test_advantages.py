import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cases import cases
from workers.learning.advantages import (
    ESTIMATORS,
    GroupOutcome,
    RewardGroup,
    group_advantages,
    step_advantages,
)


def test_centred_by_hand() -> None:
    outcome = group_advantages([1.0, 0.0, 0.0, 0.5], min_valid=3)
    assert outcome.status == "trained"
    assert outcome.advantages == [0.625, -0.375, -0.375, 0.125]


def test_a_failed_rollout_is_not_a_zero() -> None:
    outcome = group_advantages([1.0, None, 0.5, 0.0], min_valid=3)
    assert outcome.advantages == [0.5, None, 0.0, -0.5]


def test_std_by_hand() -> None:
    outcome = group_advantages([1.0, 0.0], min_valid=2, estimator="std")
    expected = 0.5 / (math.sqrt(0.5) + 1e-6)
    assert outcome.advantages == [pytest.approx(expected), pytest.approx(-expected)]


def test_leave_one_out_by_hand() -> None:
    outcome = group_advantages([1.0, 0.0, None, 0.5], min_valid=2, estimator="leave_one_out")
    assert outcome.advantages == [0.75, -0.75, None, 0.0]
    pair = group_advantages([1.0, 0.0], min_valid=2, estimator="leave_one_out")
    assert pair.advantages == [1.0, -1.0]


@cases(
    ("rewards", "min_valid", "status"),
    [
        ([1.0, None, None, 0.0], 3, "masked"),
        ([1.0], 1, "masked"),
        ([None, None, 1.0], 1, "masked"),
        ([None, None], 0, "masked"),
        ([], 0, "masked"),
        ([0.0, 0.0, 0.0], 2, "zero_variance"),
        ([0.1 + 0.2, 0.3], 2, "zero_variance"),
        ([1e12, 1e12 + 1e-4], 2, "zero_variance"),
        ([0.0, 1e-6], 2, "trained"),
    ],
)
def test_which_groups_train(rewards: list[float | None], min_valid: int, status: str) -> None:
    outcome = group_advantages(rewards, min_valid=min_valid)
    assert outcome.status == status
    if status != "trained":
        assert outcome.advantages == [None] * len(rewards)


@cases("bad", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        group_advantages([0.0, bad], min_valid=1)


def test_shaping_alone_trains_nothing() -> None:
    shaped = [-0.01, -0.02, -0.015]
    assert group_advantages([0.0] * 3, min_valid=2, objective=shaped).status == "zero_variance"


def test_a_distinction_of_equal_rewards_trains() -> None:
    shaped = [0.7, 1.0, 0.99]
    alike = group_advantages([1.0] * 3, min_valid=2, objective=shaped)
    assert alike.status == "zero_variance"
    apart = group_advantages([1.0] * 3, min_valid=2, objective=shaped, distinctions=[0.7, 1.0, 1.0])
    assert apart.status == "trained"
    mean = sum(shaped) / 3
    assert apart.advantages == pytest.approx([value - mean for value in shaped])
    with pytest.raises(ValueError, match="absent"):
        group_advantages([1.0, None], min_valid=1, distinctions=[1.0, 0.0])


def test_rewards_that_the_shaping_made_equal_train_nothing() -> None:
    """Uses four rollouts of equal length that a limit stopped, clamped to 0."""
    outcome = group_advantages([0.1, 0.2, 0.4, None], min_valid=2, objective=[-0.02] * 3 + [None])
    assert outcome == GroupOutcome([None] * 4, "zero_variance")


def test_advantages_are_taken_of_the_objective() -> None:
    outcome = group_advantages([1.0, None, 0.0], min_valid=2, objective=[0.9, None, -0.1])
    assert outcome.advantages == [pytest.approx(0.5), None, pytest.approx(-0.5)]
    with pytest.raises(ValueError, match="absent"):
        group_advantages([1.0, None], min_valid=1, objective=[1.0, 0.0])


GROUPS = [
    RewardGroup([1.0, 0.0], min_valid=2),
    RewardGroup([3.0, None, 2.0], min_valid=2),
    RewardGroup([5.0, 5.0], min_valid=2),
    RewardGroup([9.0, None], min_valid=2),
]


def test_batch_std_divides_by_the_deviation_of_the_whole_step() -> None:
    """Rewards 0, 1, 2, 3, 5, 5 and 9: mean 25/7, squared deviations 390/7 in sum."""
    outcomes = step_advantages(GROUPS, estimator="batch_std")
    spread = math.sqrt((145 - 625 / 7) / 6) + 1e-6
    assert [outcome.status for outcome in outcomes] == [
        "trained",
        "trained",
        "zero_variance",
        "masked",
    ]
    assert outcomes[0].advantages == pytest.approx([0.5 / spread, -0.5 / spread])
    assert outcomes[1].advantages == pytest.approx([0.5 / spread, None, -0.5 / spread])
    assert outcomes[2:] == [
        GroupOutcome([None, None], "zero_variance"),
        GroupOutcome([None, None], "masked"),
    ]
    shaped = [
        RewardGroup(
            g.rewards, g.min_valid, objective=[None if r is None else 2 * r for r in g.rewards]
        )
        for g in GROUPS
    ]
    # Doubling the values doubles the deviation and leaves the advantages unchanged.
    for plain, twice in zip(outcomes, step_advantages(shaped, estimator="batch_std"), strict=True):
        assert twice.status == plain.status
        for a, b in zip(twice.advantages, plain.advantages, strict=True):
            assert a is b is None or a == pytest.approx(b, rel=1e-5)


@cases("estimator", list(ESTIMATORS))
def test_the_others_treat_each_group_by_itself(estimator: str) -> None:
    assert step_advantages(GROUPS, estimator=estimator) == [
        group_advantages(group.rewards, min_valid=2, estimator=estimator) for group in GROUPS
    ]
    assert step_advantages([], estimator=estimator) == []


def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(KeyError, match="gae"):
        step_advantages(GROUPS, estimator="gae")


@settings(deadline=None)
@given(
    st.lists(st.floats(-100, 100) | st.none(), min_size=2, max_size=16),
    st.floats(-50, 50),
    st.sampled_from(["centred", "std", "leave_one_out"]),
)
def test_shift_invariant_and_centred(
    rewards: list[float | None], shift: float, estimator: str
) -> None:
    plain = group_advantages(rewards, min_valid=2, estimator=estimator)
    moved = [None if r is None else r + shift for r in rewards]
    shifted = group_advantages(moved, min_valid=2, estimator=estimator)
    if plain.status != "trained" or shifted.status != "trained":
        return
    values = [a for a in plain.advantages if a is not None]
    assert math.fsum(values) == pytest.approx(0.0, abs=1e-9 * max(1, *map(abs, values)))
    spread = max(map(abs, values))
    for a, b, reward in zip(plain.advantages, shifted.advantages, rewards, strict=True):
        assert (a is None) == (b is None) == (reward is None)
        if a is not None and b is not None and spread > 1e-3:
            assert a == pytest.approx(b, abs=1e-6 * max(1.0, spread))
