"""Builds the prompts of items, and the hosted `sample` object that graders get. Pure."""

import json
from typing import Any, assert_never

from app.domain.documents.json_object import Json
from app.domain.evals.data_sources import (
    ItemReference,
    JsonlSource,
    MessageTemplate,
    SampledSource,
    SentSampling,
)
from app.domain.graders.judge_prompts import Prompt
from app.domain.graders.samples import object_or_list, one_turn_keys
from app.domain.graders.templates.templates import MissingVariable, RenderedTooLong, parse_template


class UnusableItem(Exception):
    """No prompt can be built from the item; users read the text."""


def prompt_of(spec: MessageTemplate | ItemReference, item: Json) -> list[Json]:
    """Returns the messages in Chat Completions form. Raises `UnusableItem`."""
    try:
        match spec:
            case ItemReference():
                return _messages_at(spec.item_reference, item)
            case MessageTemplate():
                return Prompt(spec.template).fill(sample={}, item=item)
            case _:
                assert_never(spec)
    except (MissingVariable, RenderedTooLong) as error:
        raise UnusableItem(str(error)) from error


def _messages_at(path: str, item: Json) -> list[Json]:
    text = parse_template("{{" + path + "}}").render(sample={}, item=item)
    try:
        messages = json.loads(text)
    except ValueError:
        messages = None
    if not isinstance(messages, list) or not messages:
        raise UnusableItem(f"'{path}' is not a list of messages")
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise UnusableItem(f"'{path}' contains an entry that is not a message")
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        if any(not isinstance(part, dict) or part.get("type") != "text" for part in parts):
            raise UnusableItem(f"'{path}' contains parts other than text")
    return messages


def settings_of(params: SentSampling, *, seed: int) -> Json:
    """Returns Chat Completions settings; translates names of the Responses API."""
    form = params.response_format or (params.text or {}).get("format")
    if isinstance(form, dict) and form.get("type") == "json_schema" and "json_schema" not in form:
        form = {
            "type": "json_schema",
            "json_schema": {key: value for key, value in form.items() if key != "type"},
        }
    settings = {
        "seed": seed,
        "temperature": 1.0 if params.temperature is None else params.temperature,
        "top_p": 1.0 if params.top_p is None else params.top_p,
        "max_completion_tokens": params.max_completion_tokens,
        "reasoning_effort": params.reasoning_effort,
        "response_format": form,
        "tools": _tools(params) or None,
    }
    return {key: value for key, value in settings.items() if value is not None}


def tools_of(source: JsonlSource | SampledSource) -> list[Json]:
    """Returns the tools that the model is offered, which a judge of its answers reads too."""
    match source:
        case SampledSource():
            return _tools(source.sampling_params)
        case JsonlSource():
            return []
        case _:
            assert_never(source)


def _tools(params: SentSampling) -> list[Json]:
    return [_tool(tool) for tool in params.tools or ()]


def _tool(tool: Json) -> Json:
    """Returns a function in the nested form of Chat Completions; the Responses API's is flat."""
    if "function" in tool:
        return tool
    return {
        "type": "function",
        "function": {key: value for key, value in tool.items() if key != "type"},
    }


def sample_of(choices: list[Any], model: str | None, *, tokens: int | None = None) -> Json:
    """Returns the `sample` object of an answer of `tokens` tokens."""
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = message.get("content")
    text = text if isinstance(text, str) else ""
    return {
        "model": model,
        "choices": choices,
        "output_text": text,
        "output_json": object_or_list(text),
        "output_tools": message.get("tool_calls") or [],
        "output_reasoning_summary": message.get("reasoning") or message.get("reasoning_content"),
        **one_turn_keys(message, choice.get("finish_reason"), tokens=tokens),
    }


def given_sample(sample: Json) -> Json:
    """Returns the sample that came with an item, completed by derived fields."""
    choices = sample.get("choices")
    read = sample_of(choices if isinstance(choices, list) else [], None)
    if "output_text" in sample and "output_json" not in sample:
        read["output_json"] = object_or_list(str(sample["output_text"]))
    if "choices" not in sample:
        message = {"content": sample.get("output_text"), "tool_calls": sample.get("output_tools")}
        read |= one_turn_keys(message, "stop")
    return {**read, **sample}
