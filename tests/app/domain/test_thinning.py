from app.domain.thinning import thin


def test_a_short_list_stays_as_it_is() -> None:
    assert thin([1, 2, 3], 3) == [1, 2, 3]
    assert thin([], 1) == []


def test_a_long_list_keeps_both_ends_and_even_gaps() -> None:
    assert thin(range(101), 5) == [0, 25, 50, 75, 100]


def test_the_last_item_stands_for_all() -> None:
    assert thin(range(101), 1) == [100]
