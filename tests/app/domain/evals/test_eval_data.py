import pytest

from app.evals.data_sources import RowFault, parse_row
from tests.support.cases import cases


def test_a_row_holds_an_item_and_may_hold_a_sample() -> None:
    row = parse_row(b'\xef\xbb\xbf{"item": {"a": [[1]]}, "sample": {"output_text": "x"}}\n', 1)
    assert (row.item, row.sample) == ({"a": [[1]]}, {"output_text": "x"})
    assert parse_row(b'{"item": {}}', 2).sample is None


@cases(
    ("line", "part"),
    [
        (b"[]", "not a JSON object"),
        (b'{"item": {"a": NaN}}', "NaN"),
        (b'{"item": {}, "item": {}}', "the key 'item' twice"),
        (b'{"item": {"a": "\\ud800"}}', "surrogate"),
        (b'{"item": {"a": ' + b"[" * 600 + b"]" * 600 + b"}}", "too deeply"),
        (b'{"item": {"a": "' + b"x" * 1_048_576 + b'"}}', "larger than"),
        (b'{"item": []}', "object `item`"),
        (b'{"item": {}, "sample": 1}', "`sample`"),
        (b"\xff", "UTF-8"),
    ],
)
def test_a_line_that_is_no_item_is_reported(line: bytes, part: str) -> None:
    with pytest.raises(RowFault, match=f"^Line 7: .*{part}"):
        parse_row(line, 7)
