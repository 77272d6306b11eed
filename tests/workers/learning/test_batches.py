import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.learning.batches import MicroBatch, micro_batches, trained_tokens
from workers.learning.samples import TrainingSample


def sample(mask: list[int], advantage: float = 1.0, *, first: int = 10) -> TrainingSample:
    tokens = list(range(first, first + len(mask)))
    return TrainingSample(tokens, mask, [-0.1 * t * m for t, m in enumerate(mask)], advantage)


def read_back(batch: MicroBatch) -> list[tuple[tuple[int, ...], int, float, float]]:
    """(context, target, log-prob, advantage) of every trained token."""
    width = batch.ids_BT.shape[1]
    seen = []
    for flat, target, logprob, advantage in zip(
        batch.positions_N.tolist(),
        batch.targets_N.tolist(),
        batch.sampler_logprobs_N.tolist(),
        batch.advantages_N.tolist(),
        strict=True,
    ):
        row, place = divmod(flat, width)
        context = tuple(batch.ids_BT[row, : place + 1].tolist())
        seen.append((context, target, round(logprob, 5), advantage))
    return seen


def test_targets_by_hand() -> None:
    (batch,) = micro_batches([sample([0, 0, 1, 0, 1, 0, 0], 0.5)], max_tokens=100)
    assert batch.ids_BT.tolist() == [[10, 11, 12, 13]]  # nothing after the last predictor
    assert read_back(batch) == [((10, 11), 12, -0.2, 0.5), ((10, 11, 12, 13), 14, -0.4, 0.5)]


def test_rows_are_sorted_and_padding_is_bounded() -> None:
    lengths = [90, 5, 60, 7, 88, 6, 61, 5]
    samples = [sample([0] + [1] * n) for n in lengths]
    batches = micro_batches(samples, max_tokens=130)
    assert [tuple(b.ids_BT.shape) for b in batches] == [(4, 7), (2, 61), (1, 88), (1, 90)]


def test_advantage_zero_and_untrained_rows_cost_no_work_but_count() -> None:
    samples = [sample([0, 1, 1], 0.0), sample([0, 0, 0]), sample([0, 1], 1.0)]
    (batch,) = micro_batches(samples, max_tokens=100)
    assert batch.ids_BT.shape == (1, 1)
    assert trained_tokens(samples) == 3
    assert micro_batches(samples[:2], max_tokens=100) == []


rows = st.lists(
    st.tuples(st.lists(st.integers(0, 1), max_size=30), st.sampled_from([-1.0, 0.0, 0.5])),
    max_size=12,
)


@given(rows, st.integers(1, 200))
def test_every_trained_token_once_with_its_own_context(
    drawn: list[tuple[list[int], float]], budget: int
) -> None:
    samples = [
        sample([0, *mask], advantage, first=100 * n) for n, (mask, advantage) in enumerate(drawn)
    ]
    batches = micro_batches(samples, max_tokens=budget)
    expected = [
        (tuple(s.tokens[:t]), s.tokens[t], round(s.logprobs[t], 5), s.advantage)
        for s in samples
        for t in range(len(s.tokens))
        if s.mask[t] and s.advantage != 0.0
    ]
    assert sorted(found for batch in batches for found in read_back(batch)) == sorted(expected)
    assert all(b.ids_BT.shape[0] == 1 or b.ids_BT.numel() <= budget for b in batches)


def test_samples_that_cannot_be_trained_on_are_refused() -> None:
    with pytest.raises(ValueError, match="parallel"):
        TrainingSample([1, 2], [0], [0.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="context"):
        TrainingSample([1], [1], [-1.0], 1.0)
    with pytest.raises(ValueError, match="advantage"):
        TrainingSample([1], [0], [0.0], float("nan"))
    with pytest.raises(ValueError, match="log-prob"):
        TrainingSample([1, 2], [0, 1], [0.0, float("-inf")], 1.0)
