"""The mapping of columns: guesses by name, rows of each method, and labels."""

from typing import Any

import pytest

from app.curricula.columns import (
    ColumnMap,
    Role,
    UnusableColumns,
    guess,
    labelled_row,
    missing,
    row_of,
)
from app.curricula.curricula import Columns
from app.jobs.supervised import MethodType
from tests.support.cases import cases

NONE = Columns()


@cases(
    ("header", "found"),
    [
        (["question", "answer"], {"prompt": "question", "answer": "answer"}),
        (["text", "label"], {"prompt": "text", "answer": "label"}),
        (["input", "prompt", "gold"], {"prompt": "prompt", "answer": "gold"}),
        (["User Message", "SYSTEM-prompt"], {"prompt": "User Message", "system": "SYSTEM-prompt"}),
        (["ticket", "topic", "Hardness"],
         {"prompt": "ticket", "tags": "topic", "difficulty": "Hardness"}),
        (["conversation", "prompt"], {"messages": "conversation"}),
        (["anything", "else"], {}),
    ],
)  # fmt: skip
def test_columns_are_guessed_by_their_names(header: list[str], found: ColumnMap) -> None:
    assert guess(header, NONE, "reinforcement") == found


def test_a_named_column_is_free_for_no_other_part() -> None:
    header = ["prompt", "question", "answer"]
    sent = Columns(prompt="answer", tags="prompt")
    assert guess(header, sent, "reinforcement") == {"prompt": "answer", "tags": "prompt"}


def test_only_pairs_have_a_better_and_a_worse_answer() -> None:
    header = ["prompt", "chosen", "rejected"]
    assert guess(header, NONE, "supervised") == {"prompt": "prompt"}
    assert guess(header, NONE, "dpo") == {each: each for each in header}


@cases(
    ("header", "message"),
    [
        (["a", ""], "column 2 has no name"),
        (["a", "b", "a"], "two columns are named 'a'"),
        ([f"c{n}" for n in range(1_001)], "there are more than 1000 columns"),
    ],
)
def test_a_header_that_names_no_columns_is_refused(header: list[str], message: str) -> None:
    with pytest.raises(UnusableColumns, match=f"^{message}$"):
        guess(header, NONE, "reinforcement")


@cases(
    ("method", "columns", "lacking"),
    [
        ("reinforcement", {}, ["prompt"]),
        ("supervised", {"prompt": "a"}, ["answer"]),
        ("supervised", {"messages": "a"}, []),
        ("dpo", {"prompt": "a"}, ["chosen", "rejected"]),
        ("dpo", {"messages": "a", "chosen": "b"}, ["rejected"]),
    ],
)
def test_each_method_needs_its_own_parts(
    method: MethodType, columns: ColumnMap, lacking: list[Role]
) -> None:
    assert missing(columns, method) == lacking


RECORD = {
    "q": "How?", "s": "Be short.", "a": "So.", "b": "Not so.", "note": 7, "tools": [], "none": None,
}  # fmt: skip
ASKED = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "How?"}]


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@cases(
    ("method", "columns", "row"),
    [
        ("reinforcement", {"prompt": "q", "system": "s", "answer": "a"},
         {"b": "Not so.", "note": 7, "messages": ASKED, "answer": "So."}),
        ("supervised", {"prompt": "q", "system": "s", "answer": "a"},
         {"b": "Not so.", "note": 7, "messages": [*ASKED, said("So.")]}),
        ("dpo", {"prompt": "q", "system": "s", "chosen": "a", "rejected": "b"},
         {"note": 7, "input": {"messages": ASKED}, "preferred_output": [said("So.")],
          "non_preferred_output": [said("Not so.")]}),
    ],
)  # fmt: skip
def test_a_record_becomes_a_row_of_the_method(
    method: MethodType, columns: ColumnMap, row: dict[str, Any]
) -> None:
    assert row_of(RECORD, columns, method) == row


@cases("prompt", ["", "  ", None])
def test_a_record_without_a_prompt_is_no_row(prompt: str | None) -> None:
    with pytest.raises(UnusableColumns, match="the column 'q' is empty"):
        row_of({"q": prompt}, {"prompt": "q"}, "reinforcement")


@cases(
    ("value", "tags"),
    [
        ("law; tax,trade|eu", ["law", "tax", "trade", "eu"]),
        (["a;b", " c ", ""], ["a;b", "c"]),
        (5, ["5"]),
        (" ;", []),
        (None, []),
    ],
)
def test_tags_are_separated(value: Any, tags: list[str]) -> None:
    row = {"messages": [], "area": value}
    assert labelled_row(row, {"tags": "area"}) == {**row, "tags": tags}


@cases(
    ("value", "difficulty"), [("0.25", 0.25), (1, 1.0), ("", None), (None, None), ("hard", "hard")]
)
def test_a_difficulty_is_a_number_if_it_can_be(value: Any, difficulty: Any) -> None:
    row = {"messages": [], "level": value}
    assert labelled_row(row, {"difficulty": "level"}) == {**row, "difficulty": difficulty}
