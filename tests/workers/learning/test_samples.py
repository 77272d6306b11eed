import math
from dataclasses import replace

import pytest

from app.kit.ids import SampleKey
from app.rollouts.trajectory import TokenRow, Trajectory
from tests.support.cases import cases
from workers.learning.trainer import TrainingSample, count_trained_tokens


def test_an_advantage_is_every_tokens_unless_each_has_its_own() -> None:
    plain = TrainingSample([7, 8, 9], [0, 1, 1], [0.0, -1.0, -2.0], 0.5)
    assert [plain.advantage_of(index) for index in (1, 2)] == [0.5, 0.5]
    own = plain.with_token_advantages([math.nan, 0.25, -1.0])
    assert [own.advantage_of(index) for index in (1, 2)] == [0.25, -1.0]
    assert (own.tokens, own.mask, own.logprobs) == (plain.tokens, plain.mask, plain.logprobs)


def test_a_sample_with_zero_advantage_has_no_trained_token_with_another() -> None:
    def made(advantage: float, own: list[float] | None = None) -> TrainingSample:
        return TrainingSample([7, 8, 9], [0, 0, 1], [0.0] * 3, advantage, own)

    assert made(0.0).has_zero_advantage
    assert not made(-0.1).has_zero_advantage
    assert made(1.0, [5.0, 5.0, 0.0]).has_zero_advantage
    assert not made(0.0, [0.0, 0.0, -0.1]).has_zero_advantage


@cases(
    ("own", "what"),
    [([0.0, 1.0], "parallel"), ([0.0, 1.0, math.inf], "finite"), ([0.0, math.nan, 1.0], "finite")],
)
def test_advantages_that_cannot_be_trained_are_refused(own: list[float], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        TrainingSample([7, 8, 9], [0, 1, 1], [0.0] * 3, 0.5, own)


def test_a_trajectorys_sample_has_its_group() -> None:
    key = SampleKey("job", "train", 3, 11, 2)
    trajectory = Trajectory(key, [TokenRow([1, 2], [0, 1], [0.0, -0.5])])
    [sample] = TrainingSample.of_rollout(trajectory, 0.25)
    assert (sample.advantage, sample.trained_tokens) == (0.25, 1)
    [same] = TrainingSample.of_rollout(replace(trajectory, key=replace(key, sample_index=0)), -0.25)
    assert sample.group == same.group
    of_another_epoch = replace(trajectory, key=replace(key, step=4))
    [other] = TrainingSample.of_rollout(of_another_epoch, 0.25)
    assert sample.group != other.group, "another group"


def test_each_row_of_a_rollout_has_its_whole_advantage_and_its_own_sampled_tokens() -> None:
    trajectory = Trajectory(SampleKey("job", "train", 3, 11, 2))
    trajectory.continue_in([1, 2])
    trajectory.row.extend_sampled([3, 4], [-0.5, -0.25])
    trajectory.continue_in([1, 2, 3, 4, 5])
    trajectory.row.extend_sampled([6], [-0.125])
    trajectory.continue_in([1, 2, 4, 5, 6, 7])  # the template drops a token of the first turn
    trajectory.row.extend_sampled([8], [-1.0])
    trajectory.continue_in([1, 9])  # nothing is sampled in it
    found = TrainingSample.of_rollout(trajectory, -0.5)
    assert [(s.tokens, s.mask, s.logprobs, s.advantage) for s in found] == [
        ([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 0, 1], [0.0, 0.0, -0.5, -0.25, 0.0, -0.125], -0.5),
        ([1, 2, 4, 5, 6, 7, 8], [0] * 6 + [1], [0.0] * 6 + [-1.0], -0.5),
    ]
    assert len({sample.group for sample in found}) == 1
    assert count_trained_tokens(found) == trajectory.completion_tokens == 4
