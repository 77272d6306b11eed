import random

from app.jobs.findings import extremes, thin


def test_a_long_list_keeps_both_ends_and_even_gaps() -> None:
    assert thin(range(101), 5) == [0, 25, 50, 75, 100]


def test_the_last_item_stands_for_all() -> None:
    assert thin(range(101), 1) == [100]


def test_a_spike_of_one_value_is_kept() -> None:
    values = [0.0] * 1000
    values[617], values[618], values[90] = 5.0, -3.0, 1.0
    for count in (20, 100, 500):
        assert {0, 90, 617, 618, 999} <= set(extremes(values, count)), count


def test_extremes_are_never_more_than_requested() -> None:
    drawn = random.Random(5)
    for _ in range(300):
        values = [drawn.choice([0.0, 1.0, drawn.random()]) for _ in range(drawn.randint(1, 60))]
        count = drawn.randint(1, 40)
        found = extremes(values, count)
        assert len(found) <= count
        assert found == sorted(set(found))
        if count >= 4:
            kept = [values[index] for index in found]
            assert (min(kept), max(kept)) == (min(values), max(values))
