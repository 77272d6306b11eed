"""Texts of graders that are not templates: placeholders are refused, other braces are text."""

from typing import Any

import pytest
from pydantic import ValidationError

from app.graders.definitions import read_grader
from tests.support.cases import cases

JUDGE = {"model": "judge"}
LABELS = {"type": "label_model", **JUDGE, "input": [{"role": "user", "content": "q"}]}


def fault(grader: dict[str, Any]) -> tuple[tuple[str | int, ...], str]:
    with pytest.raises(ValidationError) as caught:
        read_grader(grader)
    found = caught.value.errors()[0]  # a list without the entry may be too short, too
    return found["loc"], found["msg"]


@cases("text", ["is {{item.answer}} right", "{{ name }}", "{sample.output_text}"])
def test_a_placeholder_is_refused_where_nothing_fills_it(text: str) -> None:
    named = {"type": "llm_judge", **JUDGE, "rubric": [{"name": "a", "description": text}]}
    for grader, path in (
        (named, ("rubric", 0, "description")),
        ({"type": "ai_judge", **JUDGE, "rubric": text}, ("rubric",)),
        ({**LABELS, "labels": ["a", text], "passing_labels": ["a"]}, ("labels", 1)),
        ({"type": "format", "sections": ["a", text]}, ("sections", 1)),
    ):
        loc, message = fault(grader)
        assert loc == path
        assert "would not be filled in" in message


def test_a_blank_text_is_refused() -> None:
    assert "it is blank" in fault({"type": "ai_judge", **JUDGE, "rubric": " "})[1]
    labels = {**LABELS, "labels": ["a", " "], "passing_labels": ["a"]}
    assert fault(labels) == (("labels", 1), "it is blank: a label is a word or more")


@cases(
    "text",
    ["\\textbf{item}", '{"item": 3}', "{item, price}", "{item}", "\\frac{{1}}{2}", "{{item.a"],
)
def test_other_braces_are_text(text: str) -> None:
    sent = {"type": "llm_judge", **JUDGE, "rubric": [{"name": "a", "description": text}]}
    assert read_grader(sent).model_dump()["rubric"][0]["description"] == text
    assert read_grader({"type": "format", "sections": [text]}).model_dump()["sections"] == [text]


def test_a_placeholder_is_the_cause_of_a_pattern_that_does_not_compile() -> None:
    loc, message = fault({"type": "regex", "pattern": "is {{item.answer}}"})
    assert loc == ("pattern",)
    assert message.startswith(
        "'{{item.answer}}' is not filled, because the pattern is not a template"
    )
