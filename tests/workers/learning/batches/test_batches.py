import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.learning.batches import MicroBatch, micro_batches
from workers.learning.trainer import TrainingSample, count_trained_tokens


def sample(mask: list[int], advantage: float = 1.0, *, first: int = 10) -> TrainingSample:
    tokens = list(range(first, first + len(mask)))
    return TrainingSample(tokens, mask, [-0.1 * t * m for t, m in enumerate(mask)], advantage)


def read_back(batch: MicroBatch) -> list[tuple[tuple[int, ...], int, float, float]]:
    """Returns (context, target, log-prob, advantage) of every trained token."""
    rows = [[*prefix, *own] for prefix, own in batch.layout.spans()]
    seen = []
    for index, row, target, logprob, advantage in zip(
        batch.positions_N.tolist(),
        batch.rows_N.tolist(),
        batch.targets_N.tolist(),
        batch.sampler_logprobs_N.tolist(),
        batch.advantages_N.tolist(),
        strict=True,
    ):
        position = rows[row].index(index)
        context = tuple(batch.ids_M[rows[row][: position + 1]].tolist())
        assert [batch.layout.positions()[at] for at in rows[row]] == list(range(len(rows[row])))
        seen.append((context, target, round(logprob, 5), advantage))
    return seen


def shape(batch: MicroBatch) -> list[tuple[int, tuple[int, ...]]]:
    return [(tree.prefix, tree.branches) for tree in batch.layout.trees]


def test_targets_by_hand() -> None:
    (batch,) = micro_batches([sample([0, 0, 1, 0, 1, 0, 0], 0.5)], max_tokens=100)
    assert batch.ids_M.tolist() == [10, 11, 12, 13]  # no tokens after the last predictor
    assert read_back(batch) == [((10, 11), 12, -0.2, 0.5), ((10, 11, 12, 13), 14, -0.4, 0.5)]


def test_rows_are_sorted_and_padding_is_bounded() -> None:
    lengths = [90, 5, 60, 7, 88, 6, 61, 5]
    samples = [sample([0] + [1] * n) for n in lengths]
    batches = micro_batches(samples, max_tokens=130, share=False)
    widths = [[tree.branches for tree in b.layout.trees] for b in batches]
    assert widths == [[(5,), (5,), (6,), (7,)], [(60,), (61,)], [(88,)], [(90,)]]
    assert not any(b.layout.shares for b in batches)


def test_rows_of_one_prompt_have_it_once() -> None:
    one, two = [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1]
    samples = [sample(one, 1.0), sample(two, first=50), sample(one[:4], -1.0), sample(one, 0.0)]
    (batch,) = micro_batches(samples, max_tokens=100)
    assert shape(batch) == [(3, (0, 2)), (0, (4,))]
    assert batch.ids_M.tolist() == [10, 11, 12, 13, 14, 50, 51, 52, 53]
    # the first trained token of both rows is predicted by the prompt's last
    assert batch.positions_N.tolist() == [2, 2, 3, 4, 6, 8]
    assert batch.rows_N.tolist() == [0, 1, 1, 1, 2, 2]


def test_a_large_tree_is_cut_and_repeats_its_prompt() -> None:
    samples = [sample([0] * 10 + [1] * 6)] * 5
    batches = micro_batches(samples, max_tokens=21)
    assert [shape(b) for b in batches] == [[(10, (5, 5))], [(10, (5, 5))], [(0, (15,))]]


def test_pairs_stay_together_whatever_their_prompts() -> None:
    alike, other = sample([0, 0, 0, 1, 1, 1]), sample([0, 0, 1], first=50)
    (batch,) = micro_batches([alike, alike, other, alike], max_tokens=100, rows_per_example=2)
    assert shape(batch) == [(3, (2, 2)), (0, (2,)), (0, (5,))]
    batches = micro_batches([alike, alike, other, alike], max_tokens=1, rows_per_example=2)
    assert [b.layout.rows for b in batches] == [2, 2]


def test_samples_of_advantage_zero_stand_in_the_batch_on_demand() -> None:
    samples = [sample([0, 1, 1], 0.0), sample([0, 0, 0]), sample([0, 1], 1.0)]
    (batch,) = micro_batches(samples, max_tokens=100, keep_zero_advantage=True)
    assert batch.sources == (2, 0)
    assert [row[-1] for row in read_back(batch)] == [1.0, 0.0, 0.0]


def test_a_token_has_its_own_advantage() -> None:
    one = sample([0, 1, 0, 1], 0.0).with_token_advantages([9.0, 0.5, 9.0, -0.5])
    still = sample([0, 1], 1.0).with_token_advantages([9.0, 0.0])
    (batch,) = micro_batches([still, one], max_tokens=100)
    assert batch.sources == (1,)
    assert batch.advantages_N.tolist() == [0.5, -0.5]


def test_advantage_zero_and_untrained_rows_cost_no_work_but_count() -> None:
    samples = [sample([0, 1, 1], 0.0), sample([0, 0, 0]), sample([0, 1], 1.0)]
    (batch,) = micro_batches(samples, max_tokens=100)
    assert batch.ids_M.shape == (1,)
    assert count_trained_tokens(samples) == 3
    assert micro_batches(samples[:2], max_tokens=100) == []


rows = st.lists(
    st.tuples(st.lists(st.integers(0, 1), max_size=30), st.sampled_from([-1.0, 0.0, 0.5])),
    max_size=12,
)


@given(rows, st.integers(1, 200), st.booleans(), st.integers(1, 3))
def test_every_trained_token_once_with_its_own_context(
    drawn: list[tuple[list[int], float]], budget: int, share: bool, prompts: int
) -> None:
    samples = [
        sample([0, *mask], advantage, first=100 * (n % prompts))
        for n, (mask, advantage) in enumerate(drawn)
    ]
    batches = micro_batches(samples, max_tokens=budget, share=share)
    expected = [
        (tuple(s.tokens[:t]), s.tokens[t], round(s.logprobs[t], 5), s.advantage)
        for s in samples
        for t in range(len(s.tokens))
        if s.mask[t] and s.advantage != 0.0
    ]
    assert sorted(found for batch in batches for found in read_back(batch)) == sorted(expected)
    assert all(b.layout.rows == 1 or b.layout.tokens <= budget for b in batches)


def test_samples_that_cannot_be_trained_on_are_refused() -> None:
    with pytest.raises(ValueError, match="parallel"):
        TrainingSample([1, 2], [0], [0.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="context"):
        TrainingSample([1], [1], [-1.0], 1.0)
    with pytest.raises(ValueError, match="advantage"):
        TrainingSample([1], [0], [0.0], float("nan"))
    with pytest.raises(ValueError, match="log-prob"):
        TrainingSample([1, 2], [0, 1], [0.0, float("-inf")], 1.0)
