"""Builds the prompts of items, and the hosted `sample` object that graders get. Pure."""

import json
from typing import Any, assert_never

from app.domain.documents.json_object import Json
from app.domain.evals.data_sources import ItemReference, MessageTemplate
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
    """Returns the sample that came with an item, completed by derived fields. A null counts as
    absent, as in templates.
    """
    sent = {key: value for key, value in sample.items() if value is not None}
    choices = sent.get("choices", [_choice_of(sent)] if "output_text" in sent else [])
    read = sample_of(choices if isinstance(choices, list) else [], None)
    if "output_text" in sent and "output_json" not in sent:
        read["output_json"] = object_or_list(str(sent["output_text"]))
    if "choices" not in sent:
        read |= one_turn_keys(_choice_of(sent)["message"], "stop")
    return {**read, **sent}


def _choice_of(sample: Json) -> Json:
    """Returns the answer of a sample without `choices` as a choice of a chat completion."""
    calls = sample.get("output_tools") or []
    message = {"role": "assistant", "content": sample.get("output_text"), "tool_calls": calls}
    return {"index": 0, "message": message, "finish_reason": "stop"}
