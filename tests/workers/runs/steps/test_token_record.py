"""The stored tokens of a rollout: values by token, limits, and what was not trained."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from app.kit.ids import SampleKey
from app.rollouts.trajectory import (
    STORED_TOKENS,
    Failure,
    FailureClass,
    Grade,
    RecordedTurn,
    ScoredRollout,
    TokenRecord,
    TokenRow,
    Trajectory,
    Turn,
)
from workers.runs.reporter import token_record

NAN, INFINITY = float("nan"), float("inf")


def turn(texts: Sequence[str], logprobs: Sequence[float]) -> Turn:
    ids = tuple(range(len(logprobs)))
    return Turn(ids, tuple(logprobs), 0, "", 0, "stop", texts=tuple(texts))


def rollout(turns: Sequence[Turn], **values: Any) -> ScoredRollout:
    logprobs = [logprob for one in turns for logprob in one.logprobs]
    trajectory = Trajectory(
        SampleKey("ftjob-1", "train", 1, 0, 0),
        rows=[TokenRow([9, *range(len(logprobs))], [0, *(1 for _ in logprobs)], [0.0, *logprobs])],
        turns=list(turns),
    )
    return ScoredRollout(trajectory, **{"grade": Grade(1.0), **values})


def test_each_token_has_the_ratio_of_its_own_log_probs() -> None:
    turns = [turn(["a", "b"], [-0.123456, -2.0]), turn(["c"], [-1.0])]
    trained = [-0.123456, -2.0 + math.log(1.25), -1.0 + math.log(0.5)]
    found = token_record(rollout(turns, advantage=1.0, trainer_logprobs=trained))
    assert found == TokenRecord(
        [
            RecordedTurn(["a", "b"], [-0.1235, -2.0], [1.0, 1.25]),
            RecordedTurn(["c"], [-1.0], [0.5]),
        ],
        0,
    )


def test_untrained_and_failed_rollouts_have_log_probs_without_ratios() -> None:
    lost = Failure(FailureClass.TOOL_TIMEOUT, "no answer", "search")
    for values in ({}, {"grade": None, "failure": lost}):
        found = token_record(rollout([turn(["a", "b"], [-0.5, -0.25])], **values))
        assert found == TokenRecord([RecordedTurn(["a", "b"], [-0.5, -0.25], [None, None])], 0)


def test_tokens_beyond_the_limit_are_counted() -> None:
    first = turn(["x"] * (STORED_TOKENS - 1), [-0.5] * (STORED_TOKENS - 1))
    cut, none = turn(["y"], [-0.25] * 5), turn([], [-0.125] * 3)
    trained = [-0.5] * (STORED_TOKENS - 1) + [-0.25 + math.log(2)] + [0.0] * 7
    found = token_record(rollout([first, cut, none], trainer_logprobs=trained))
    assert found is not None
    assert found.omitted == 7
    assert [len(one.texts) for one in found.turns] == [STORED_TOKENS - 1, 1, 0]
    assert found.turns[1] == RecordedTurn(["y"], [-0.25], [2.0])


def test_values_that_are_not_finite_are_absent_and_huge_ones_bounded() -> None:
    logprobs = [NAN, -INFINITY, -1.0, -800.0, 0.0, -0.00001]
    trained = [-1.0, -1.0, NAN, 0.0, -800.0, 0.0]
    found = token_record(rollout([turn("abcdef", logprobs)], trainer_logprobs=trained))
    assert found is not None
    assert found.turns[0].log_probs == [None, None, -1.0, -800.0, 0.0, 0.0]
    assert found.turns[0].ratios == [None, None, None, round(math.exp(20), 4), 0.0, 1.0]
    assert math.copysign(1, found.turns[0].log_probs[5] or 0) == 1


def test_a_rollout_without_a_token_has_no_record() -> None:
    assert token_record(rollout([])) is None


def test_log_probs_of_another_rollout_are_an_error() -> None:
    with pytest.raises(ValueError, match="parallel"):
        token_record(rollout([turn(["a"], [-0.5])], trainer_logprobs=[-0.5, -0.5]))
