from app.kit.sql import MAX_PAGE_BYTES, fitting
from tests.support.cases import cases


@cases(
    ("sizes", "limit", "expected"),
    [
        ([], 3, 0),
        ([1, 1, 1], 2, 2),
        ([MAX_PAGE_BYTES, 0, 1, 0], 9, 2),
        ([MAX_PAGE_BYTES + 1, 1], 9, 1),
        ([1, MAX_PAGE_BYTES, 1], 9, 1),
    ],
)
def test_a_page_holds_what_fits_and_one_row_at_least(
    sizes: list[int], limit: int, expected: int
) -> None:
    assert fitting(sizes, limit) == expected
