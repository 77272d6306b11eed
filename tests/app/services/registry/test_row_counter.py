from app.curricula.service import RowCounter
from tests.support.cases import cases


def counted(content: bytes, *, block: int) -> RowCounter:
    counter = RowCounter(limit=3)
    for start in range(0, len(content), block):
        counter.feed(content[start : start + block])
    counter.end()
    return counter


@cases("block", [1, 2, 3, 1000])
@cases(
    ("content", "rows", "too_many"),
    [
        (b"", 0, None),
        (b"a", 1, None),
        (b"a\nb\nc\n", 3, None),
        (b"a\n\n  \r\nb\n\t\nc", 3, None),
        (b"a\n\nb\nc\n \nd\ne\n", 5, 6),
        (b"aa\nbb\ncc\ndd", 4, 4),
    ],
)
def test_rows_are_lines_with_text(
    content: bytes, rows: int, too_many: int | None, block: int
) -> None:
    counter = counted(content, block=block)
    assert (counter.rows, counter.first_too_many) == (rows, too_many)
