"""The decision table of `auto`, over kinds of rows."""

from inspect import getsource
from typing import Any

import pytest

from app.graders import answer_numbers
from app.graders.choice import GraderChoice, NoGraderFits, choose_by_item, choose_grader, row_facts
from app.graders.definitions import AutoGrader
from tests.support.cases import cases

CALL = {"name": "forecast", "arguments": {"town": "Ulm"}}
FUNCTION_TEST = {"arguments": [2], "expected": 4}
PROGRAM_TEST = {"stdin": "2", "stdout": "4"}
LONG = "Ulm lies on the Danube and has the highest church spire of the world."


def choice(
    *rows: dict[str, Any], answer_schema: dict[str, Any] | None = None, **auto: Any
) -> GraderChoice:
    facts = [row_facts(row, line) for line, row in enumerate(rows, start=1)]
    grader = AutoGrader.model_validate({"type": "auto", **auto})
    return choose_grader(grader, facts, answer_schema=answer_schema)


@cases(
    ("row", "expected"),
    [
        (
            {"tests": [FUNCTION_TEST], "function": "double"},
            {"type": "code_execution", "function": "{{item.function}}"},
        ),
        (
            {"tests": [FUNCTION_TEST], "entry_point": "double", "answer": "a text"},
            {"type": "code_execution", "function": "{{item.entry_point}}"},
        ),
        ({"tests": '[{"stdout": "4"}]'}, {"type": "code_execution", "tests": "{{item.tests}}"}),
        ({"calls": [CALL]}, {"type": "tool_call", "reference": "{{item.calls}}"}),
        ({"calls": [], "answer": "x"}, {"type": "tool_call", "reference": "{{item.calls}}"}),
        ({"expected_calls": CALL}, {"type": "tool_call", "reference": "{{item.expected_calls}}"}),
        ({"answer": "Ulm"}, {"type": "exact_match", "reference": "{{item.answer}}"}),
        ({"label": True}, {"type": "exact_match", "reference": "{{item.label}}"}),
        ({"target": LONG}, {"type": "text_similarity", "reference": "{{item.target}}"}),
        (
            {"answer": "Ulm", "reference_answer": "On the Danube"},
            {"type": "exact_match", "reference": "{{item.reference_answer}}"},
        ),
    ],
)
def test_the_rows_name_the_grader(row: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected.items() <= choice(row, row).grader.items()


@cases(
    "answer",
    [
        *(42, -1.5, "42", "1,000", "-3e4", "12 + 30 = 42\n#### 42", "#### 42", "#### -1,042.50"),
        *(".5", "+5", "\u22125", "-$5", "$-5", "\u20ac1,042", "3/4", "3 / 4", "2 3/4", "2\u00bd"),
        *("3\u20444", "3\u22154", "3 \u00f7 4", r"\frac{3}{4}", r"\dfrac{-3}{-4}", r"\frac34"),
        *("18.", "$18$.", "90\u00b0", r"90^{\circ}", "18 cm^2", "9.8 m/s\u00b2", "**18**"),
        *(
            "#### 18 eggs",
            r"It is \boxed{18}.",
            r"\boxed{x = 18}",
            "<answer>18</answer>",
        ),
    ],
)
def test_a_number_is_looked_for_at_the_end_of_the_answer(answer: Any) -> None:
    chosen = choice({"answer": answer}).grader
    assert chosen["type"] == "python"
    assert "item['answer']" in chosen["source"]
    assert chosen["source"].startswith(getsource(answer_numbers)), "the service reads as it does"


@cases(
    "answer",
    [
        *("1,0425", "3-4", "5 eggs", "####", "1.2.3", "1_00", "5'10", "2 6/4", "10^2"),
        *(r"\boxed{2x+3}", r"\boxed{(2, 3)}", r"\boxed{6-5i}", r"\boxed{x^2+3}", "#### (2, 3)"),
    ],
)
def test_a_text_with_a_number_in_it_is_no_number(answer: str) -> None:
    assert choice({"answer": answer}).kind == "exact_match"


@cases("answer", [{"town": "Ulm"}, ["Ulm"], '{"town": "Ulm"}', "[1]"])
def test_json_is_compared_field_by_field(answer: Any) -> None:
    chosen = choice({"solution": answer}, answer_schema={}).grader
    assert chosen["type"] == "python"
    assert "item['solution']" in chosen["source"]
    assert "json.loads" in chosen["source"]


def test_short_and_long_texts_are_compared_as_texts() -> None:
    chosen = choice({"answer": "Ulm"}, {"answer": LONG}, {"answer": True})
    assert chosen.kind == "text_similarity"
    assert chosen.reason == "All 3 rows have a reference in 'answer' that is a text."


def test_a_schema_of_answers_is_enough_and_states_what_it_does_not_score() -> None:
    schema = {"type": "object", "required": ["town"]}
    chosen = choice({}, answer_schema=schema)
    assert (chosen.kind, chosen.grader["json_schema"]) == ("json_valid", schema)
    assert "the content is not" in chosen.reason
    assert choice({}, answer_schema={}).grader["json_schema"] is None


def test_a_judge_is_the_last_resort() -> None:
    chosen = choice({}, model="judge-1", name="ranks", pass_threshold=0.7)
    sent = {"type": "ai_judge", "model": "judge-1", "name": "ranks", "pass_threshold": 0.7}
    assert sent.items() <= chosen.grader.items()
    assert choice({"answer": "Ulm"}, model="judge-1").kind == "exact_match"


@cases(
    ("rows", "part"),
    [
        ([], "no row"),
        ([{"notes": "x"}], "add to every row a reference answer as 'answer'"),
        ([{"answer": None}, {"answer": "  "}], "nothing to compare an answer with"),
        ([{"answer": "a"}, {}], "1 of 2 rows have 'answer' (line 2 lacks it)"),
        ([{}, {"tests": [PROGRAM_TEST]}], "1 of 2 rows have 'tests' (line 1 lacks it)"),
        ([{"tests": []}], "line 1, 'tests': the tests are a list of 1 to 64 objects"),
        ([{"tests": [FUNCTION_TEST]}], "add it to every row as 'function'"),
        (
            [{"tests": [FUNCTION_TEST], "function": "class"}],
            "line 1, 'function': 'class' is a keyword of Python",
        ),
        (
            [{"tests": [FUNCTION_TEST]}, {"tests": [PROGRAM_TEST]}],
            "'tests' is tests of a function in line 1 and tests of a program in line 2",
        ),
        (
            [{"calls": [{"arguments": {}}]}],
            "line 1, 'calls': 'reference' is not a JSON list of calls",
        ),
        (
            [{"answer": {"a": 1}}, {"answer": "b"}],
            "'answer' is JSON in line 1 and a short text in line 2",
        ),
        (
            [{"answer": "1"}] * 11 + [{"answer": LONG}],
            "a number in line 1 and a text in line 12: one grader cannot read both, so write it in",
        ),
        (
            [{"answer": "Ulm"}, {"answer": LONG}, {"answer": 3}],
            "'answer' is a short text in line 1 and a number in line 3",
        ),
    ],
)
def test_rows_that_fit_nothing_are_refused_with_the_cure(
    rows: list[dict[str, Any]], part: str
) -> None:
    with pytest.raises(NoGraderFits) as caught:
        choice(*rows)
    assert part in str(caught.value)


def test_a_text_is_not_compared_with_an_answer_in_json() -> None:
    with pytest.raises(NoGraderFits, match=r"\{\{sample.output_json.FIELD\}\}"):
        choice({"answer": "Ulm"}, answer_schema={})


def test_one_item_decides_by_itself() -> None:
    assert choose_by_item(AutoGrader(type="auto"), {"answer": "Ulm"}).kind == "exact_match"


@cases("key", ["answer", "calls"])
def test_a_value_with_too_much_json_is_reported_as_such(key: str) -> None:
    with pytest.raises(NoGraderFits, match=f"line 1, '{key}': .*contains more than 25000 values"):
        choice({key: "[" + "0," * 25_000 + "0]"})
