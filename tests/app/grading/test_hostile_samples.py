"""Samples that a grader cannot use: too long, or no text. Their cost is bounded."""

import tracemalloc
import unicodedata
from typing import Any

import pytest

from app.graders import json_schemas
from app.graders.answer_words import MAX_MARKS, has_long_run_of_marks
from app.graders.templates import MAX_RENDERED
from tests.support.cases import cases
from tests.support.grading.scores import scored

LOCAL: list[dict[str, Any]] = [
    {
        "type": "string_check",
        "input": "{{sample.output_text}}",
        "reference": "x",
        "operation": "eq",
    },
    {
        "type": "text_similarity",
        "input": "{{sample.output_text}}",
        "reference": "x",
        "evaluation_metric": "rouge_l",
    },
    {"type": "exact_match", "reference": "x"},
    {"type": "contains", "needles": ["x", "{{sample.output_text}}"]},
    {"type": "json_valid", "json_schema": {"type": "object"}},
    {"type": "regex", "pattern": "(x+x+)+y"},
    {"type": "format", "tags": ["a"]},
    {"type": "length_bounds", "max": 1},
    {"type": "tool_call", "reference": '[{"name": "f", "arguments": {}}]'},
]
_TEN_MB = 10_000_000


@cases("grader", LOCAL, ids=lambda grader: grader["type"])
async def test_ten_megabytes_score_0_with_a_flag_and_are_not_read(grader: dict[str, Any]) -> None:
    text = "x" * _TEN_MB
    tracemalloc.start()
    try:
        result = await scored(grader, text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (result.score, result.errors.raised) == (0.0, ("other_error",))
    assert str(MAX_RENDERED) in str(result.errors.details)
    assert peak < _TEN_MB, "no copy of the text was made"


@cases("grader", LOCAL, ids=lambda grader: grader["type"])
@cases("text", ["\ud800", "\x00", "x" * 30_000 + "\udfff", ""])
async def test_what_is_no_text_has_a_score(grader: dict[str, Any], text: str) -> None:
    assert (await scored(grader, text)).score in {0.0, 1.0}


@cases("form", ["NFC", "NFKD"])
@cases(
    "text",
    ["a" + "\u0301" * 12_000 + "\u0316" * 12_000, "\u0f73" * 20_000, "\uff9e\u0316" * 10_000],
    ids=["marks", "decomposed", "halfwidth"],
)
async def test_a_long_run_of_combining_marks_is_unreadable(form: str, text: str) -> None:
    result = await scored({"type": "exact_match", "reference": "x", "unicode": form}, text)
    assert (result.score, result.errors.raised) == (0.0, ("sample_parse_error",))
    assert str(MAX_MARKS) in str(result.errors.details)


async def test_texts_that_are_not_normalised_may_have_any_marks() -> None:
    text = "a" + "\u0301" * 100
    grader = {"type": "exact_match", "reference": "{{item.a}}", "unicode": "none"}
    assert (await scored(grader, text, item={"a": text})).score == 1.0


@cases("text", ["\u3160", "\u1172", "\u09c7\u09be", "\uffc7"])
@cases("form", ["NFC", "NFKC"])
async def test_letters_that_join_are_no_combining_marks(form: str, text: str) -> None:
    grader = {"type": "exact_match", "reference": "{{item.a}}", "unicode": form}
    answer = text * (MAX_MARKS + 1)
    assert (await scored(grader, answer, item={"a": answer})).score == 1.0


def test_a_run_of_marks_may_be_as_long_as_stream_safe_text_has_it() -> None:
    assert not has_long_run_of_marks(("a" + "\u0301" * MAX_MARKS) * 3)
    assert has_long_run_of_marks("a" + "\u0301" * (MAX_MARKS + 1))


def test_every_combining_mark_counts() -> None:
    marks = [
        each
        for each in map(chr, range(0x110000))
        if unicodedata.combining(unicodedata.normalize("NFKD", each)[0])
    ]
    assert len(marks) > 900
    assert all(has_long_run_of_marks(mark * (MAX_MARKS + 1)) for mark in marks)


async def test_a_sample_that_takes_too_much_work_is_unreadable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    links = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    schema = {"items": {"$ref": "#/$defs/a0"}, "$defs": {**links, "a40": {"type": "string"}}}
    grader = {"type": "json_valid", "json_schema": schema}
    assert (await scored(grader, "[]")).score == 1.0
    monkeypatch.setattr(json_schemas, "LIMIT_S", 0.5)
    result = await scored(grader, '["x"]')
    assert (result.score, result.errors.raised) == (0.0, ("sample_parse_error",))
