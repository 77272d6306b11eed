"""Turns of a model as the chunks of a stream."""

from typing import Any


def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
    return {**head, "choices": [choice]}


def called(name: str, arguments: str) -> list[dict[str, Any]]:
    """Returns the chunks of a turn that reasons and calls a tool, five tokens in all."""
    function = {"name": name, "arguments": arguments}
    delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
    return [
        chunk({"reasoning": "Let me look."}),
        chunk(delta),
        chunk({}, "tool_calls"),
        {**chunk({}), "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}},
    ]
