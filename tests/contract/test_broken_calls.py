"""A tool call that cannot be parsed reaches a chat client as content with an error field."""

from typing import Any

import pytest
from openai import OpenAI

from app.rollouts.turns import call_fault
from tests.support.contract.service import BASE, Service

BROKEN = 'So: <tool_call>\n{"name": "lookup", "arguments": {"record"\n</tool_call>'
LOOKUP = {
    "type": "function",
    "function": {
        "name": "lookup",
        "parameters": {"type": "object", "properties": {"record": {"type": "string"}}},
    },
}
QUESTION = {"role": "user", "content": "What is in P017?"}


def _ask(client: OpenAI, **options: Any) -> Any:
    ask: Any = client.chat.completions.create
    return ask(model=BASE, messages=[QUESTION], **options)


def _message(client: OpenAI, **options: Any) -> dict[str, Any]:
    message: dict[str, Any] = _ask(client, **options).choices[0].message.model_dump()
    return message


def _streamed(client: OpenAI, **options: Any) -> dict[str, Any]:
    """The deltas of a stream, joined as a client joins them."""
    joined: dict[str, Any] = {"content": ""}
    for chunk in _ask(client, stream=True, **options):
        delta = chunk.choices[0].delta.model_dump(exclude_none=True)
        joined["content"] += delta.pop("content", "")
        joined.update(delta)
    return joined


@pytest.mark.parametrize("ask", [_message, _streamed])
def test_a_broken_call_has_the_sentence_that_training_gives(service: Service, ask: Any) -> None:
    service.engine.answer = BROKEN
    message = ask(service.client(), tools=[LOOKUP])
    assert (message["content"], message.get("tool_calls")) == (BROKEN, None)
    sign = message["tool_call_error"]
    assert (sign["type"], sign["message"]) == ("unparsable_tool_call", call_fault(BROKEN))
    assert sign["message"].startswith("Error: the tool call could not be parsed: it is not valid")
    assert sign["tool_call_id"].startswith("call_")


@pytest.mark.parametrize("ask", [_message, _streamed])
@pytest.mark.parametrize(
    ("answer", "options"),
    [
        (BROKEN, {}),
        (BROKEN, {"tools": [LOOKUP], "tool_choice": "none"}),
        ("It is 42.", {"tools": [LOOKUP]}),
    ],
)
def test_an_answer_has_no_sign(
    service: Service, ask: Any, answer: str, options: dict[str, Any]
) -> None:
    service.engine.answer = answer
    message = ask(service.client(), **options)
    assert (message["content"], "tool_call_error" in message) == (answer, False)


def test_the_streaming_helper_of_the_sdk_hands_the_sign_through(service: Service) -> None:
    service.engine.answer = BROKEN
    tools: Any = [LOOKUP]
    messages: Any = [QUESTION]
    with service.client().chat.completions.stream(
        model=BASE, messages=messages, tools=tools
    ) as stream:
        final = stream.get_final_completion().choices[0].message
    assert final.model_extra is not None
    assert final.model_extra["tool_call_error"]["message"] == call_fault(BROKEN)


def test_a_marked_message_may_be_sent_back(service: Service) -> None:
    client = service.client()
    service.engine.answer = BROKEN
    message = _ask(client, tools=[LOOKUP]).choices[0].message.model_dump(exclude_none=True)
    sign = message["tool_call_error"]
    reply = {"role": "tool", "tool_call_id": sign["tool_call_id"], "content": sign["message"]}
    ask: Any = client.chat.completions.create
    ask(model=BASE, messages=[QUESTION, message, reply], tools=[LOOKUP])
    assert service.engine.bodies[-1]["messages"] == [
        QUESTION,
        {"role": "assistant", "content": BROKEN},
        reply,
    ]
