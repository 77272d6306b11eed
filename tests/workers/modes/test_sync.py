"""Which rollouts train, and with what advantage, group by group."""

import pytest

from app.domain import metrics as names
from tests.support.scored import scored
from workers.learning.shaping import ShapingConfig
from workers.modes.sync import groups_of, training_samples

ROLLOUTS = [
    scored(("train", 1, 4, 0), 1.0),
    scored(("train", 1, 4, 1), 0.0),
    scored(("train", 1, 4, 2), None),
    scored(("train", 1, 4, 3), 0.5),
    *(scored(("train", 1, 2, n), 0.5) for n in range(4)),
    scored(("train", 1, 9, 0), 1.0),
    scored(("train", 1, 9, 1), None),
    scored(("train", 1, 9, 2), None),
    scored(("train", 1, 9, 3), 0.0),
]
PLAIN = ShapingConfig(token_penalty=0.0)


def test_groups_keep_the_order_of_the_step() -> None:
    groups = groups_of(ROLLOUTS)
    assert list(groups) == [4, 2, 9]
    assert [rollout.key.sample_index for rollout in groups[4]] == [0, 1, 2, 3]


def test_lost_rollouts_leave_mean_and_batch_and_thin_groups_train_nothing() -> None:
    samples, counts = training_samples(ROLLOUTS, min_group_share=0.75, shaping=PLAIN)
    # Of group 4 the three graded ones train, around their own mean of 0.5; the mean is no 0.375.
    assert [sample.advantage for sample in samples] == pytest.approx([0.5, -0.5, 0.0])
    assert counts == {
        names.GROUPS_TRAINED: 1.0,
        names.GROUPS_ZERO_VARIANCE: 1.0,
        names.GROUPS_MASKED: 1.0,
    }
    (sample, *_) = samples
    assert (sample.tokens, sample.mask) == ([1, 2, 3, 10, 11], [0, 0, 0, 1, 1])


def test_a_longer_answer_of_equal_reward_is_worth_a_little_less() -> None:
    group = [
        scored(("train", 1, 0, 0), 1.0, sampled=2),
        scored(("train", 1, 0, 1), 1.0, sampled=10),
        scored(("train", 1, 0, 2), 0.0, sampled=2),
    ]
    shaping = ShapingConfig(token_penalty=0.1, token_budget=10)
    samples, _ = training_samples(group, min_group_share=0.75, shaping=shaping)
    values = [0.98, 0.9, -0.02]
    mean = sum(values) / 3
    assert [s.advantage for s in samples] == pytest.approx([value - mean for value in values])
