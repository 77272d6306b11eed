import json
from typing import Any

import pytest

from app.files.datasets import parse_rows
from app.files.rows import MAX_ROW_BYTES, DatasetError
from tests.support.cases import cases

USER = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


def rows(*items: Any, tools: set[str] | None = None, most: int = 100) -> Any:
    lines = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in items]
    return parse_rows(lines, {"search"} if tools is None else tools, most)


def test_rows_are_read_with_everything_in_them() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    item = {
        "messages": [
            {"role": "developer", "content": "d"},
            {"role": "user", "content": parts},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "out"},
            USER,
        ],
        "tools": [TOOL],
        "reference_answer": "JKT",
    }
    first, second = rows(b"\xef\xbb\xbf" + json.dumps(item).encode(), b"  \n", {"messages": [USER]})
    assert (first.index, first.messages, first.tools) == (0, item["messages"], [TOOL])
    assert first.item == item
    assert (second.index, second.tools, second.item) == (1, [], {"messages": [USER]})


@cases(
    ("item", "pointer", "text"),
    [
        (b"{", "", "JSON"),
        (b"[]", "", "not a JSON object"),
        (b"\xff\xfe", "", "UTF-8"),
        (b'\xef\xbb\xbf{"messages":[]}', "", "JSON"),  # a BOM belongs to the first line only
        (b'{"messages":[{"role":"user","content":"x"}],"n":NaN}', "", "NaN"),
        (b'{"messages":[{"role":"user","content":"x"}],"n":1e999}', "", "out of range"),
        (b'{"messages":[{"role":"user","content":"a\\u0000"}]}', "", "U+0000"),
        (b'{"messages":[{"role":"user","content":"\\ud800"}]}', "", "surrogate"),
        (b"[" * 200_000, "", "deep"),
        (b'{"n":' + b"9" * 5000 + b"}", "", "JSON"),
        (b'{"messages":[],"a":{"b":1,"b":1}}', "", "contains the key 'b' twice"),
        (b'{"a":"' + b"x" * MAX_ROW_BYTES + b'"}', "", "larger than"),
        ({"messages": []}, "/messages", "at least one"),
        ({"messages": ["x", USER]}, "/messages/0", "object"),
        ({"messages": [{"content": "x"}, USER]}, "/messages/0/role", "missing"),
        ({"messages": [{"role": "bot", "content": "x"}, USER]}, "/messages/0/role", "one of"),
        ({"messages": [{"role": ["user"], "content": "x"}]}, "/messages/0/role", "one of"),
        ({"messages": [USER, {"role": "assistant", "content": "x"}]}, "/messages/1/role", "last"),
        ({"messages": [{"role": "user"}]}, "/messages/0/content", "missing"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "/messages/0/content",
            "does not support 'image_url' here",
        ),
        (
            {"messages": [{"role": "tool", "content": "x"}, USER]},
            "/messages/0/tool_call_id",
            "missing",
        ),
        ({"messages": [{**USER, "tool_calls": []}]}, "/messages/0/tool_calls", "assistant"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}, USER]},
            "/messages/0/tool_calls/0/function",
            "missing",
        ),
        ({"messages": [USER], "tools": {}}, "/tools", "array"),
        (
            {"messages": [USER], "tools": [{"type": "function", "function": {"name": "a b"}}]},
            "/tools/0/function/name",
            "1 to 64 letters",
        ),
        (
            {"messages": [USER], "tools": [{"type": "function", "function": {"name": "search\n"}}]},
            "/tools/0/function/name",
            "1 to 64 letters",
        ),
        ({"messages": [USER], "tools": [TOOL, TOOL]}, "/tools/1/function/name", "twice"),
        *(
            (
                {
                    "messages": [USER],
                    "tools": [
                        {"type": "function", "function": {"name": "search", "parameters": schema}}
                    ],
                },
                f"/tools/0/function/parameters{at}",
                text,
            )
            for schema, at, text in (
                ([], "", "expected an object"),
                ({"type": "array"}, "/type", "must have the type 'object'"),
                ({"properties": {"q": {"type": "strin"}}}, "/properties/q/type", "'integer'"),
                ({"properties": {"q": {"$ref": "#/$defs/q"}}}, "/properties/q/$ref", "no schema"),
                ({"items": {"$ref": "https://a.example/b"}}, "/items/$ref", "no other is fetched"),
            )
        ),
        (
            {"messages": [USER], "tools": [{"type": "function", "function": {"name": "other"}}]},
            "/tools/0/function/name",
            "no server_url",
        ),
        *(
            ({"messages": [USER], "tools": [tool]}, "/tools/0/function", f"the form of {form}")
            for tool, form in (
                ({"type": "function", "name": "search", "parameters": {}}, "the Responses API"),
                ({"name": "search", "input_schema": {}}, "the Anthropic API"),
            )
        ),
    ],
)
def test_a_bad_row_is_named_by_line_and_pointer(item: Any, pointer: str, text: str) -> None:
    with pytest.raises(DatasetError) as caught:
        rows({"messages": [USER]}, item)
    error = caught.value
    assert (error.line, error.pointer) == (2, pointer)
    assert text in error.message
    assert str(error).startswith("Line 2")


def test_references_within_a_schema_of_a_function_are_good() -> None:
    leaf = {"$anchor": "leaf", "enum": [None, "a"], "default": None}
    parameters = {
        "properties": {
            "a": {"$ref": "#/$defs/leaf"},
            "b": {"$ref": "#leaf"},
            "c": {"$ref": "#"},
            "d": {"const": {"$ref": "https://a.example/no-schema"}},
        },
        "$defs": {"leaf": leaf},
    }
    tool = {"type": "function", "function": {"name": "search", "parameters": parameters}}
    [row] = rows({"messages": [USER], "tools": [tool]})
    assert row.tools == [tool]


def test_rows_of_a_job_without_tools_offer_any_tool() -> None:
    line = json.dumps({"messages": [USER], "tools": [TOOL]}).encode()
    [row] = parse_rows([line], None, 1)
    assert row.tools == [TOOL]
    with pytest.raises(DatasetError, match="listed twice"):
        parse_rows([json.dumps({"messages": [USER], "tools": [TOOL, TOOL]}).encode()], None, 1)


def test_one_row_too_many_is_refused_at_its_line() -> None:
    assert len(rows({"messages": [USER]}, {"messages": [USER]}, most=2)) == 2
    with pytest.raises(DatasetError, match="more than 1 examples") as caught:
        rows({"messages": [USER]}, {"messages": [USER]}, most=1)
    assert caught.value.line == 2
