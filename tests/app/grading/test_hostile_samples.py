"""Samples that a grader cannot use: too long, or no text. Their cost is bounded."""

import tracemalloc
from typing import Any

import pytest

from app.domain.graders.templates import MAX_RENDERED
from tests.support.grading import scored

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


@pytest.mark.parametrize("grader", LOCAL, ids=lambda grader: grader["type"])
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


@pytest.mark.parametrize("grader", LOCAL, ids=lambda grader: grader["type"])
@pytest.mark.parametrize("text", ["\ud800", "\x00", "x" * 30_000 + "\udfff", "\u202e", ""])
async def test_what_is_no_text_has_a_score(grader: dict[str, Any], text: str) -> None:
    assert (await scored(grader, text)).score in {0.0, 1.0}
