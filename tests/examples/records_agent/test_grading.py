from __future__ import annotations

import pytest

from examples.records_agent.grading import RecordedCall, grade
from tests.support.cases import cases

ITEM = {"reference_answer": "62", "reference_tools": ["lookup"]}
PRICE = RecordedCall("lookup", '{"record": "P1", "field": "price"}', "62")
PRICE_REORDERED = RecordedCall("lookup", '{"field":"price","record":"P1"}', "62")
STOCK = RecordedCall("lookup", '{"record": "P1", "field": "stock"}', "17")
WRONG_TOOL = RecordedCall("calculator", '{"expression": "31 + 31"}', "62")
FAILED = RecordedCall("lookup", '{"record": "P9", "field": "price"}', "Error: no record P9")


@cases(
    ("text", "calls", "score", "wasted"),
    [
        ("62", [], 1.0, 0),
        (" 62\n", [PRICE], 1.0, 0),
        ("62.0", [PRICE], 0.0, 0),
        ("", [], 0.0, 0),
        ("62", [STOCK, PRICE], 1.0, 0),
        ("62", [PRICE, PRICE], 0.8, 1),
        ("62", [PRICE, PRICE_REORDERED], 0.8, 1),
        ("62", [PRICE, STOCK], 0.8, 1),
        ("62", [FAILED, PRICE], 0.8, 1),
        # The right value from the wrong tool does not make the look-up that follows needless.
        ("62", [WRONG_TOOL, PRICE], 0.8, 1),
        ("62", [WRONG_TOOL, FAILED, PRICE, STOCK, PRICE, PRICE], 0.0, 5),
    ],
)
def test_scoring_table(text: str, calls: list[RecordedCall], score: float, wasted: int) -> None:
    result = grade(text, ITEM, calls)
    assert result.score == pytest.approx(score)
    assert result.wasted_calls == wasted


def test_a_row_that_names_no_tools_allows_them_all() -> None:
    assert grade("62", {"reference_answer": "62"}, [WRONG_TOOL]).score == 1.0


def test_a_row_without_an_answer_is_never_right() -> None:
    assert grade("", {}, []).score == 0.0
