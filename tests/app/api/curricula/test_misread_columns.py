"""Columns that a guess could lose: each is in the rows, or a finding or refusal names it."""

from collections.abc import Callable
from typing import Any

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.registry.curriculum_calls import codes, previewed, question

ABOUT_COLUMNS = {"joined_columns", "unread_context", "replaced_column"}
CALCULATOR = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]


def asked(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


async def read(api: Api, method: str, record: Callable[[int], Any], columns: Any) -> dict[str, Any]:
    rows = [record(number) for number in range(24)]
    return await previewed(
        api, {"type": "rows", "rows": rows, "columns": columns or {}}, method=method
    )


def alpaca(number: int) -> Any:
    return {"instruction": "Translate.", "input": question(number), "output": f"Nr. {number}"}


def labelled(number: int) -> Any:
    return {"prompt": question(number), "answer": "a", "gold": number}


def conversation(number: int) -> Any:
    return {"messages": [asked(question(number))], "answer": f"How is {question(number)}"}


CASES: list[tuple[str, Callable[[int], Any], Any, Any, list[tuple[str, str]]]] = [
    ("supervised", alpaca, None,
     {"input": question(0),
      "messages": [asked(f"Translate.\n\n{question(0)}"), said("Nr. 0")]},
     [("info", "joined_columns")]),
    ("dpo", lambda n: {"instruction": "Do.", "context": question(n), "input": "", "chosen": "a",
                       "rejected": "b"}, None,
     {"context": question(0), "input": {"messages": [asked(f"Do.\n\n{question(0)}")]},
      "preferred_output": [said("a")], "non_preferred_output": [said("b")]},
     [("info", "joined_columns")]),
    ("reinforcement", lambda n: {"question": question(n), "input": n}, None,
     {"input": 0, "messages": [asked(question(0))]}, [("warning", "unread_context")]),
    ("supervised", lambda n: {"prompt": question(n), "answer": "a", "tools": CALCULATOR}, None,
     {"messages": [asked(question(0)), said("a")], "tools": CALCULATOR}, []),
    ("reinforcement", conversation, {"prompt": "answer"},
     {"messages": [asked(f"How is {question(0)}")]}, [("warning", "replaced_column")]),
    ("reinforcement", labelled, {"answer": "gold"},
     {"messages": [asked(question(0))], "answer": 0}, [("warning", "replaced_column")]),
    ("dpo", lambda n: {"prompt": question(n), "chosen": "a", "rejected": "b", "answer": n}, None,
     {"input": {"messages": [asked(question(0))]}, "preferred_output": [said("a")],
      "non_preferred_output": [said("b")], "answer": 0}, []),
    ("supervised", lambda n: {"chat": f'[{{"role": "user", "content": "{n}"}}, '
                                      '{"role": "assistant", "content": "so"}]', "label": "good",
                              "system": "Be short."}, None,
     {"messages": [asked("0"), said("so")], "label": "good", "system": "Be short."}, []),
]  # fmt: skip


@cases(("method", "record", "columns", "row", "found"), CASES)
async def test_every_column_is_in_the_row_or_in_a_finding(
    api: Api, *, method: str, record: Any, columns: Any, row: Any, found: list[tuple[str, str]]
) -> None:
    preview = await read(api, method, record, columns)
    about_columns = [code for code in codes(preview) if code[1] in ABOUT_COLUMNS]
    assert (preview["first_rows"][0], about_columns) == (row, found), preview["findings"]
    assert preview["usable"]


@cases(
    ("method", "record", "columns", "words"),
    [
        ("reinforcement", labelled, {"chosen": "answer"}, "job have no 'chosen': leave it out"),
        ("reinforcement", labelled, {"prompt": "prompt", "messages": "gold"},
         "'messages' is the whole conversation: leave it or 'prompt' out of 'columns'"),
        ("supervised", lambda n: {**labelled(n), "tools": "hammer"}, None,
         "the column 'tools' has no list of function tools as JSON"),
        ("supervised", lambda n: {"prompt": question(n), "answer": " "}, None,
         "the column 'answer' is empty"),
    ],
)  # fmt: skip
async def test_a_part_that_rows_do_not_have_is_refused(
    api: Api, method: str, record: Any, columns: Any, words: str
) -> None:
    preview = await read(api, method, record, columns)
    assert not preview["usable"]
    assert words in preview["findings"][0]["message"]


@cases(("values", "tags"), [((0, 1), {"0", "1"}), ((False, True), {"false", "true"})])
async def test_a_tag_may_be_zero_or_false(
    api: Api, values: tuple[Any, Any], tags: set[str]
) -> None:
    preview = await read(api, "reinforcement", lambda n: {
        "prompt": question(n), "category": values[n % 2]}, None)  # fmt: skip
    assert set(preview["tags"]) == tags
