import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.learning.advantages import group_advantages


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        group_advantages([0.0, bad], min_valid=1)


def test_shaping_alone_trains_nothing() -> None:
    shaped = [-0.01, -0.02, -0.015]
    assert group_advantages([0.0] * 3, min_valid=2, objective=shaped).status == "zero_variance"


def test_advantages_are_taken_of_the_objective() -> None:
    outcome = group_advantages([1.0, None, 0.0], min_valid=2, objective=[0.9, None, -0.1])
    assert outcome.advantages == [pytest.approx(0.5), None, pytest.approx(-0.5)]
    with pytest.raises(ValueError, match="absent"):
        group_advantages([1.0, None], min_valid=1, objective=[1.0, 0.0])


@given(
    st.lists(st.floats(-100, 100) | st.none(), min_size=2, max_size=16),
    st.floats(-50, 50),
    st.sampled_from(["centred", "std"]),
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
