import pytest

from app.kit.ids import SampleKey
from app.rollouts.trajectory import StopReason, TokenRow, ToolCallRecord, Trajectory, Turn
from tests.support.cases import cases
from workers.learning.advantages import (
    ShapedReward,
    ShapingConfig,
    centred_advantages,
    order_equals,
    shape,
)

NOTHING = ShapingConfig(token_penalty=0.0)


def rollout(
    *,
    sampled: int = 0,
    calls: int = 0,
    repeated: int = 0,
    stop: StopReason | None = StopReason.FINAL_ANSWER,
) -> Trajectory:
    records = tuple(
        ToolCallRecord(
            id=f"fc_{n}",
            call_id=f"call_{n}",
            name="lookup",
            arguments="{}",
            output="x",
            error=None,
            latency_s=0.0,
            attempts=1,
            output_tokens=1,
            repeated=n < repeated,
        )
        for n in range(calls)
    )
    return Trajectory(
        key=SampleKey("job", "train", 1, 0, 0),
        rows=[
            TokenRow([0] * (sampled + 1), [0] + [1] * sampled, [0.0] * (sampled + 1)),
        ],
        turns=[Turn((), (), 0, "", 0, "stop", tool_calls=records)],
        stop_reason=stop,
    )


def test_by_default_only_length_costs_and_little() -> None:
    config = ShapingConfig()
    assert shape(1.0, rollout(sampled=512, calls=9, repeated=9), config).value == pytest.approx(
        0.99
    )
    assert shape(1.0, rollout(sampled=100_000), config).value == pytest.approx(0.98)
    assert shape(0.4, rollout(stop=StopReason.MAX_STEPS), config).value == pytest.approx(0.4)


def test_call_penalties_by_hand_and_bounded() -> None:
    config = ShapingConfig(
        token_penalty=0.0, call_budget=2, call_budget_penalty=0.1, repeated_call_penalty=0.05
    )
    assert shape(1.0, rollout(calls=2), config).value == 1.0
    assert shape(1.0, rollout(calls=5, repeated=1), config).value == pytest.approx(1 - 0.3 - 0.05)
    assert shape(1.0, rollout(calls=500, repeated=500), config).value == pytest.approx(
        1 - 1.0 - 0.5
    )


@cases(
    ("sampled", "lost"),
    [(0, 0.0), (800, 0.0), (801, 0.5 / 200), (900, 0.25), (1000, 0.5), (5000, 0.5)],
)
def test_soft_overlong_grows_over_the_buffer(sampled: int, lost: float) -> None:
    config = ShapingConfig(
        token_penalty=0.0, overlong_limit=1000, overlong_buffer=200, overlong_penalty=0.5
    )
    assert shape(1.0, rollout(sampled=sampled), config).value == pytest.approx(1.0 - lost)
    assert shape(-1.0, rollout(sampled=sampled), config).value == pytest.approx(-1.0 - lost)
    assert shape(1.0, rollout(sampled=sampled), NOTHING).value == 1.0


@cases("stop", [s for s in StopReason if s is not StopReason.FINAL_ANSWER])
def test_clamp_on_limit_stop(stop: StopReason) -> None:
    config = ShapingConfig(token_penalty=0.0, clamp_limit_stop=True)
    assert shape(0.7, rollout(stop=stop), config).value == 0.0
    assert shape(-0.7, rollout(stop=stop), config).value == -0.7
    assert shape(0.7, rollout(), config).value == 0.7
    assert shape(0.7, rollout(stop=stop), NOTHING).value == 0.7


@cases(
    ("rewards", "lengths"),
    [
        ([0.0, 0.48, 1.0], [10, 40, 10]),  # 0.013 below the mean
        ([0.0, 0.52, 1.0], [10, 40, 10]),
        ([0.0, 0.0, 0.0, 1.0, 0.26], [1, 1, 1, 1, 1000]),
        ([0.9, 0.1, 0.5000001], [1, 1, 1000]),
    ],
)
def test_the_light_token_penalty_turns_no_advantage_against_the_grader(
    rewards: list[float], lengths: list[int]
) -> None:
    config = ShapingConfig(token_penalty=0.5, token_budget=40)
    shaped = [
        shape(reward, rollout(sampled=length), config)
        for reward, length in zip(rewards, lengths, strict=True)
    ]
    values = [0.0 if one is None else one.value for one in order_equals(shaped)]
    by_grader, trained = centred_advantages(rewards), centred_advantages(values)
    assert [each > 0 for each in trained] == [each > 0 for each in by_grader]
    assert trained != by_grader


def test_only_the_light_token_penalty_is_no_distinction() -> None:
    config = ShapingConfig(
        token_penalty=0.02,
        token_budget=10,
        call_budget=0,
        call_budget_penalty=0.1,
        repeated_call_penalty=0.05,
        overlong_limit=10,
        overlong_penalty=0.5,
        clamp_limit_stop=True,
    )
    shaped = shape(1.0, rollout(sampled=10, calls=2, repeated=1, stop=StopReason.MAX_STEPS), config)
    assert shaped == ShapedReward(
        1.0,
        clamped=1.0,
        token_penalty=0.02,
        call_budget_penalty=0.2,
        repeated_call_penalty=0.05,
        overlong_penalty=0.5,
    )
    assert shaped.distinction == pytest.approx(-0.75)
    assert shaped.value == pytest.approx(-0.77)
