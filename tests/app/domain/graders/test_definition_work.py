"""The work of reading the parts of a grader is bounded for all of them together."""

from typing import Any

import pytest

from app.graders.definitions import read_grader
from app.graders.grader_model import MAX_MESSAGES
from app.graders.templates import MAX_PLACEHOLDERS, MAX_PLACEHOLDERS_TOGETHER
from tests.support.cases import cases
from tests.support.grading.app_calls import counted_calls
from tests.support.grading.large_definitions import MANY, judged, multi, pattern

TOGETHER: list[tuple[list[dict[str, Any]], str, str, int]] = [
    (
        [
            {"type": "string_check", "input": MANY, "reference": MANY, "operation": "eq"}
            for _ in range(64)
        ],
        "parse_template",
        "more than 10000 placeholders together",
        MAX_PLACEHOLDERS_TOGETHER // MAX_PLACEHOLDERS,
    ),
    (
        [judged([MANY] * 9), judged([[MANY, {"type": "text", "text": MANY}]] * 99)],
        "parse_template",
        "more than 10000 placeholders together",
        MAX_PLACEHOLDERS_TOGETHER // MAX_PLACEHOLDERS,
    ),
]


@cases(("graders", "worker", "message", "most"), TOGETHER)
def test_what_exceeds_a_sum_is_refused_before_it_is_read(
    graders: list[dict[str, Any]], worker: str, message: str, most: int
) -> None:
    with counted_calls() as calls, pytest.raises(ValueError, match=message):
        read_grader(multi(*graders))
    assert 0 < calls[worker] <= most


def test_a_grader_of_many_usual_parts_is_read() -> None:
    usual = [
        *(pattern(rf"(?:\w+@)?[a-z]{{2,9}}{number}\.(?:com|org)") for number in range(32)),
        *(
            {"type": "json_valid", "json_schema": {"type": "object", "required": [f"k{number}"]}}
            for number in range(16)
        ),
        *(
            {"type": "string_check", "input": "{{item.a}}" * 9, "reference": "x", "operation": "eq"}
            for _ in range(16)
        ),
    ]
    assert len(read_grader(multi(*usual)).parts) == len(usual)


def test_no_message_of_a_list_that_is_too_long_is_read() -> None:
    with counted_calls() as calls, pytest.raises(ValueError, match="at most 256 items"):
        read_grader(judged(["{{item.a}}"] * (MAX_MESSAGES + 1)))
    assert calls["parse_template"] == 0
