"""Verdicts of judges as plain values: equal however they are written, and never larger."""

import json
from typing import Any

import pytest

from app.graders.judge_answers import read_answer
from app.graders.judge_replies import verdicts_of


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [{"score": value}]
    return value


def test_nothing_within_a_value_that_is_no_score_is_kept() -> None:
    no_score = frozenset({("scores", frozenset({("", None)}))})
    assert verdicts_of({"scores": _nested(2)}) == no_score
    assert verdicts_of({"scores": _nested(200)}) == no_score
    assert verdicts_of({"result": {"a": _nested(200)}}) == {("result", None)}


def test_a_deep_verdict_of_a_judge_is_read() -> None:
    said = {"scores": _nested(100)}
    assert read_answer(json.dumps(said), {"output_text": "x"}).content == said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"result": 10}, {"result": "10.0", "why": "so"}),
        (
            {"scores": [{"id": "1", "score": 0}, {"id": 2, "score": 1}]},
            {"scores": [{"id": "2", "score": 1.0}, {"id": 1, "score": 0.0}]},
        ),
        ({"score": True}, {"score": None}),
    ],
)
def test_equal_verdicts_are_equal_however_they_are_written(one: Any, other: Any) -> None:
    assert verdicts_of(one) == verdicts_of(other)


@pytest.mark.parametrize("other", [{"result": 9}, {"score": 10}, {"result": "ten"}, {}])
def test_other_verdicts_differ(other: Any) -> None:
    assert verdicts_of({"result": 10}) != verdicts_of(other)
