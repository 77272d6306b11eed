"""Builds the hosted `sample` object of a trial from a text."""

from typing import Any

from app.domain.graders.samples import flat_call, object_or_list, one_turn_keys


def text_sample(text: str, more: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns the sample; its `output_json` is the parsed text, `None` unless that is a
    JSON object or list, as in a job.

    Keys of `more` replace the derived ones. Its `tool_calls` may be in chat form; a missing
    `arguments_json` is added.
    """
    more = dict(more or {})
    message = {"role": "assistant", "content": text, "tool_calls": more.get("output_tools") or []}
    if more.get("tool_calls") is not None:
        more["tool_calls"] = [_with_json(flat_call(call)) for call in more["tool_calls"]]
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "output_text": text,
        "output_json": object_or_list(text),
        "output_tools": [],
        "output_reasoning_summary": None,
        **one_turn_keys(message, "stop"),
        **more,
    }


def _with_json(call: Any) -> Any:
    arguments = call.get("arguments") if isinstance(call, dict) else None
    if not isinstance(arguments, str) or "arguments_json" in call:
        return call
    return {**call, "arguments_json": object_or_list(arguments)}
