import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.learning.batch_loss import apply_kl_penalty
from workers.learning.trainer import TrainingSample


def sample(q: list[float], advantage: float, group: int | None) -> TrainingSample:
    """A sample with one prompt token, the trained tokens and one untrained token."""
    count = len(q)
    return TrainingSample(
        [0] * (count + 2), [0, *[1] * count, 0], [9.0, *q, 9.0], advantage, group=group
    )


def test_by_hand() -> None:
    """Group 0 has the distances 1, 3 and -1 with mean 1; group 1 has the distance 2."""
    samples = [sample([-1.0, -1.0], 0.5, 0), sample([-2.0], -0.5, 0), sample([-3.0], 1.0, 1)]
    base = [[7.0, -2.0, -4.0, 7.0], [7.0, -1.0, 7.0], [7.0, -5.0, 7.0]]
    penalised, total = apply_kl_penalty(samples, base, coefficient=0.1)
    assert total == pytest.approx(1 + 3 - 1 + 2)
    assert [list(sample.token_advantages or ()) for sample in penalised] == [
        [0.0, pytest.approx(0.5), pytest.approx(0.5 - 0.2), 0.0],
        [0.0, pytest.approx(-0.5 + 0.2), 0.0],
        [0.0, pytest.approx(1.0), 0.0],
    ]
    assert [sample.mask for sample in penalised] == [sample.mask for sample in samples]


def test_samples_without_a_group_have_no_siblings() -> None:
    samples = [sample([-1.0], 0.5, None), sample([-2.0], 0.5, None)]
    penalised, _ = apply_kl_penalty(samples, [[0.0, -9.0, 0.0], [0.0, -9.0, 0.0]], coefficient=1.0)
    assert [sample.advantage_of(1) for sample in penalised] == [0.5, 0.5]


def test_advantages_per_token_are_kept() -> None:
    own = sample([-1.0, -1.0], 0.0, 0).with_token_advantages([0.0, 2.0, -2.0, 0.0])
    (penalised,), _ = apply_kl_penalty([own], [[0.0, -2.0, -4.0, 0.0]], coefficient=0.1)
    assert [penalised.advantage_of(1), penalised.advantage_of(2)] == pytest.approx([2.1, -2.1])


LOGPROBS = st.lists(st.floats(-20, 0), min_size=1, max_size=5)


@settings(deadline=None)
@given(rows=st.lists(st.tuples(LOGPROBS, st.integers(0, 2)), min_size=1, max_size=6))
def test_a_groups_pull_sums_to_nothing_and_parts_are_the_whole(
    rows: list[tuple[list[float], int]],
) -> None:
    samples = [sample(q, 0.0, group) for q, group in rows]
    base = [[0.0, *[-1.0] * len(q), 0.0] for q, _ in rows]
    penalised, total = apply_kl_penalty(samples, base, coefficient=0.5)
    for group in range(3):
        mine = [index for index, (_, its) in enumerate(rows) if its == group]
        advantages = [value for index in mine for value in penalised[index].token_advantages or ()]
        assert math.fsum(advantages) == pytest.approx(0.0, abs=1e-9)
        alone, _ = apply_kl_penalty(
            [samples[index] for index in mine], [base[index] for index in mine], coefficient=0.5
        )
        assert alone == [penalised[index] for index in mine]
    assert total == pytest.approx(math.fsum(q + 1.0 for row, _ in rows for q in row))
