import json
from typing import Any

import pytest

from app.files.datasets import check_row, inspect_row
from app.files.rows import DatasetError
from app.jobs.supervised import MethodType
from tests.support.cases import cases

USER = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": "hello"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BROKEN = {**CALL, "function": {"name": "f", "arguments": "{a:"}}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
PAIR = {
    "input": {"messages": [USER], "tools": [TOOL], "parallel_tool_calls": False},
    "preferred_output": [ANSWER],
    "non_preferred_output": [{"role": "assistant", "content": "no"}],
}


def _faults(method: MethodType, row: Any) -> list[str]:
    line = row if isinstance(row, bytes) else json.dumps(row).encode()
    return [fault.pointer for fault in inspect_row(method, line, 3, job_tools=set())[1]]


@cases(
    "row",
    [
        {"messages": [USER, ANSWER]},
        {"messages": [ANSWER, USER, ANSWER]},
        {"messages": [USER, {**ANSWER, "weight": 0}, USER, {**ANSWER, "weight": 1}]},
        {
            "messages": [USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}],
            "tools": [TOOL],
            "parallel_tool_calls": True,
        },
        {"messages": [USER, ANSWER], "tools": None, "parallel_tool_calls": None},
        {"messages": [{**USER, "tool_calls": None}, {"role": "assistant", "refusal": "No."}]},
    ],
)
def test_good_supervised_rows(row: Any) -> None:
    assert _faults("supervised", row) == []
    assert check_row("supervised", json.dumps(row).encode(), 1) == row


@cases(
    ("row", "pointers"),
    [
        (b"{", [""]),
        ({}, ["/messages"]),
        ({"messages": [USER]}, ["/messages/0/role"]),
        ({"messages": [USER, {"role": "tool", "content": "x"}]}, ["/messages/1/tool_call_id"]),
        ({"messages": [{**USER, "weight": 1}, ANSWER]}, ["/messages/0/weight"]),
        ({"messages": [USER, {**ANSWER, "weight": 2}]}, ["/messages/1/weight"]),
        ({"messages": [USER, {**ANSWER, "weight": 0}]}, ["/messages"]),
        ({"messages": [ANSWER]}, ["/messages/0"]),
        ({"messages": [USER, ANSWER], "parallel_tool_calls": "yes"}, ["/parallel_tool_calls"]),
        (
            {"messages": [{"role": "bot"}, "x"], "tools": {}, "parallel_tool_calls": 1},
            ["/messages/0/role", "/messages/1", "/tools", "/parallel_tool_calls"],
        ),
    ],
)
def test_every_fault_of_a_supervised_row_is_reported(row: Any, pointers: list[str]) -> None:
    assert _faults("supervised", row) == pointers
    line = row if isinstance(row, bytes) else json.dumps(row).encode()
    with pytest.raises(DatasetError) as first:
        check_row("supervised", line, 3)
    assert (first.value.line, first.value.pointer) == (3, pointers[0])


def test_good_preference_rows() -> None:
    called = {"role": "assistant", "tool_calls": [CALL]}
    for row in (
        PAIR,
        {**PAIR, "input": {"messages": [USER]}},
        {**PAIR, "preferred_output": [called]},
        {**PAIR, "non_preferred_output": [{**called, "tool_calls": [BROKEN]}]},
    ):
        assert _faults("dpo", row) == []


@cases(
    ("change", "pointers"),
    [
        ({"input": None}, ["/input"]),
        ({"input": {"messages": []}}, ["/input/messages"]),
        ({"input": {"messages": [USER], "tools": [{}]}}, ["/input/tools/0/type"]),
        ({"input": {"messages": [USER], "parallel_tool_calls": 0}}, ["/input/parallel_tool_calls"]),
        ({"preferred_output": [ANSWER, ANSWER]}, ["/preferred_output"]),
        ({"preferred_output": [USER]}, ["/preferred_output/0/role"]),
        ({"non_preferred_output": [ANSWER]}, ["/non_preferred_output"]),
        (
            {"input": [], "preferred_output": [1], "non_preferred_output": None},
            ["/input", "/preferred_output/0", "/non_preferred_output"],
        ),
    ],
)
def test_every_fault_of_a_preference_row_is_reported(
    change: dict[str, Any], pointers: list[str]
) -> None:
    assert _faults("dpo", {**PAIR, **change}) == pointers


def test_all_faults_of_a_reinforcement_row_are_reported() -> None:
    row = {"messages": [USER, ANSWER], "tools": [TOOL, {"type": "function"}]}
    assert _faults("reinforcement", row) == [
        "/messages/1/role",
        "/tools/1/function",
        "/tools/0/function/name",
    ]
    good = {"messages": [USER], "tools": [TOOL]}
    assert check_row("reinforcement", json.dumps(good).encode(), 1, job_tools={"search"}) == good
