import itertools

from workers.runs.opening import rows_of_step


def _epoch(epoch: int, *, seed: int = 5) -> list[list[int]]:
    first = epoch * 3 + 1
    return [
        rows_of_step(step, seed=seed, row_count=10, batch_size=4)
        for step in range(first, first + 3)
    ]


def test_every_epoch_visits_every_row_once_in_an_order_of_its_own() -> None:
    epochs = [_epoch(0), _epoch(1), _epoch(2)]
    for epoch in epochs:
        assert [len(batch) for batch in epoch] == [4, 4, 2]
        assert sorted(itertools.chain(*epoch)) == list(range(10))
    assert len({str(epoch) for epoch in epochs}) == 3


def test_a_step_depends_on_its_number_and_the_seed_only() -> None:
    # Values that a resumed run of another version must find again.
    assert rows_of_step(1, seed=5, row_count=10, batch_size=4) == _epoch(0)[0]
    assert rows_of_step(1, seed=42, row_count=6, batch_size=3) == ROWS_OF_SEED_42
    assert _epoch(0, seed=6) != _epoch(0, seed=5)


ROWS_OF_SEED_42 = [1, 5, 2]
