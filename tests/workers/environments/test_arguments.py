"""Schemas of foreign origin, which may be anything that is JSON, against calls of the model."""

import json
from typing import Any

from app.rollouts.tool_formats import ParsedToolCall
from tests.support.cases import cases
from workers.environments.tool_environment import check_arguments

ODD: list[Any] = [None, 5, "q", [["q"]], [{"q": 1}], {"q": ["string", ["x"]]}, {"q": {"type": {}}}]


@cases("key", ["required", "properties", "additionalProperties", "type"])
@cases("value", ODD, ids=json.dumps)
def test_what_is_no_json_schema_is_not_checked(key: str, value: Any) -> None:
    tool = {"type": "function", "function": {"name": "search", "parameters": {key: value}}}
    assert check_arguments(ParsedToolCall("search", '{"q": {"a": 1}}'), [tool]) is None


def test_a_name_among_others_is_still_required() -> None:
    parameters = {"required": [["x"], "q", 3]}
    tool = {"type": "function", "function": {"name": "search", "parameters": parameters}}
    fault = check_arguments(ParsedToolCall("search", "{}"), [tool])
    assert fault is not None
    assert (fault.error, fault.text) == (
        "bad_arguments",
        "Error: wrong arguments for search: 'q' is missing.",
    )
