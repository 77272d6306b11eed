"""Stored chat completions through openai's client: what is read back is what was answered."""

from typing import Any

import pytest
from openai import BadRequestError, NotFoundError, OpenAI, RateLimitError

from tests.support.contract.service import BASE, Service

ASKED: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]},
]
TOOLS: list[Any] = [{"type": "function", "function": {"name": "now"}}]


@pytest.fixture
def client(service: Service) -> OpenAI:
    service.execute("DELETE FROM stored_completions")
    return service.client()


def chat(client: OpenAI, **body: Any) -> Any:
    return client.chat.completions.create(
        model="tiny-agent", messages=body.pop("messages", ASKED), store=True, **body
    )


def test_a_stored_completion_is_what_was_answered(service: Service, client: OpenAI) -> None:
    service.engine.answer = "It is ten."
    reply = chat(client, metadata={"topic": "time"}, user="u-1", tools=TOOLS)
    found = client.chat.completions.retrieve(reply.id)
    assert reply.id.startswith("chatcmpl-")
    assert found.choices == reply.choices
    assert found.choices[0].message.content == "It is ten."
    assert (found.usage, found.created, found.model) == (reply.usage, 1, BASE)
    extra = found.to_dict()
    assert (extra["metadata"], extra["input_user"]) == ({"topic": "time"}, "u-1")
    assert extra["tools"] == TOOLS
    assert service.engine.bodies[-1].keys() & {"store", "metadata", "user"} == set()


def test_a_completion_without_the_option_is_not_stored(client: OpenAI) -> None:
    reply = client.chat.completions.create(model="tiny-agent", messages=ASKED)
    with pytest.raises(NotFoundError):
        client.chat.completions.retrieve(reply.id)
    assert client.chat.completions.list().data == []


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": True}}])
def test_a_streamed_completion_is_stored_as_it_was_streamed(
    service: Service, client: OpenAI, options: dict[str, Any]
) -> None:
    service.engine.answer = "It is half past ten."
    chunks = list(chat(client, stream=True, safety_identifier="s-1", user="u-1", **options))
    (completion_id,) = {chunk.id for chunk in chunks}
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    found = client.chat.completions.retrieve(completion_id)
    assert text == found.choices[0].message.content == "It is half past ten."
    assert found.choices[0].finish_reason == "stop"
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (3, 2)
    assert (found.object, (found.model_extra or {})["input_user"]) == ("chat.completion", "s-1")


def test_streamed_calls_are_joined(service: Service, client: OpenAI) -> None:
    def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "c", "object": "chat.completion.chunk", "created": 5}
        return {**head, "choices": [choice]}

    def call(index: int, arguments: str, **head: Any) -> dict[str, Any]:
        name = {"name": head.pop("name")} if "name" in head else {}
        return {"index": index, **head, "function": {**name, "arguments": arguments}}

    service.engine.stream = [
        chunk(role="assistant", reasoning="Let "),
        chunk(reasoning="me see."),
        chunk(tool_calls=[call(0, "", id="a", type="function", name="now")]),
        chunk(tool_calls=[call(0, '{"in":')]),
        chunk(tool_calls=[call(0, '"Rome"}'), call(1, "{}", id="b", name="now")]),
        chunk("tool_calls"),
    ]
    chunks = list(chat(client, stream=True, tools=TOOLS))
    found = client.chat.completions.retrieve(chunks[0].id)
    message = found.choices[0].message
    assert message.content is None
    assert (message.model_extra or {})["reasoning"] == "Let me see."
    assert [call.model_dump() for call in message.tool_calls or []] == [
        {"id": "a", "type": "function", "function": {"name": "now", "arguments": '{"in":"Rome"}'}},
        {"id": "b", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ]
    assert (found.choices[0].finish_reason, found.created) == ("tool_calls", 5)


def test_a_stream_that_breaks_off_is_not_stored(service: Service, client: OpenAI) -> None:
    service.engine.break_off = True
    with pytest.raises(Exception, match=r".+"):
        list(chat(client, stream=True))
    assert client.chat.completions.list().data == []


def test_completions_are_listed_filtered_and_paged(client: OpenAI) -> None:
    made = [chat(client, metadata={"n": str(number % 2)}).id for number in range(4)]
    completions = client.chat.completions
    assert [one.id for one in completions.list(limit=3)] == made
    assert [one.id for one in completions.list(order="desc", limit=2).data] == made[:1:-1]
    assert [one.id for one in completions.list(metadata={"n": "1"})] == made[1::2]
    assert [one.id for one in completions.list(model=BASE, after=made[2])] == made[3:]
    assert completions.list(model="tiny-agent").data == []


def test_the_messages_of_a_completion(client: OpenAI) -> None:
    reply = chat(client)
    messages = client.chat.completions.messages
    shown = [one.to_dict() for one in messages.list(reply.id)]
    assert shown == [
        {"id": f"{reply.id}-0", "role": "system", "content": "Be brief.", "content_parts": None},
        {
            "id": f"{reply.id}-1",
            "role": "user",
            "content": "Hello",
            "content_parts": ASKED[1]["content"],
        },
    ]
    first = messages.list(reply.id, limit=1)
    assert (first.data[0].id, first.has_more) == (f"{reply.id}-0", True)
    assert [one.id for one in first] == [f"{reply.id}-0", f"{reply.id}-1"]
    assert messages.list(reply.id, order="desc").data[0].id == f"{reply.id}-1"
    with pytest.raises(BadRequestError) as refused:
        messages.list(reply.id, after="zzz")
    assert refused.value.param == "after"


def test_metadata_is_replaced_and_a_completion_deleted(service: Service, client: OpenAI) -> None:
    reply = chat(client, metadata={"a": "1"})
    completions = client.chat.completions
    changed = completions.update(reply.id, metadata={"b": "2"})
    assert changed.to_dict()["metadata"] == {"b": "2"}
    assert changed.choices == reply.choices
    assert completions.update(reply.id, metadata=None).to_dict()["metadata"] is None
    with pytest.raises(NotFoundError):
        service.client(key=service.api.other_key).chat.completions.delete(reply.id)
    gone = completions.delete(reply.id)
    assert gone.to_dict() == {"id": reply.id, "object": "chat.completion.deleted", "deleted": True}
    for call in (completions.retrieve, completions.delete, completions.messages.list):
        with pytest.raises(NotFoundError):
            call(reply.id)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"metadata": {str(number): "x" for number in range(17)}}, "metadata"),
    ({"metadata": {"a" * 65: "x"}}, "metadata"),
    ({"metadata": {"a": "x" * 513}}, "metadata.a"),
    ({"user": "x" * 257}, "user"),
    ({"safety_identifier": "x" * 257}, "safety_identifier"),
]


@pytest.mark.parametrize(("body", "param"), REFUSED)
def test_what_cannot_be_stored_is_refused_before_it_is_sampled(
    service: Service, client: OpenAI, body: dict[str, Any], param: str
) -> None:
    with pytest.raises(BadRequestError) as refused:
        chat(client, **body)
    assert (refused.value.param, refused.value.code) == (param, "invalid_value")
    assert service.engine.bodies == []


def test_stored_completions_count_against_the_quota(service: Service, client: OpenAI) -> None:
    chat(client)
    project = service.project_of(service.api.key)
    used = service.value("SELECT sum(bytes) FROM stored_completions")
    files = service.value(
        "SELECT coalesce(sum(bytes), 0) FROM files WHERE project_id = %s", project
    )
    limit = "UPDATE projects SET max_stored_bytes = %s WHERE id = %s"
    service.execute(limit, used + files + 10, project)
    try:
        with pytest.raises(RateLimitError) as refused:
            chat(client.with_options(max_retries=0))
    finally:
        service.execute(limit, None, project)
    assert refused.value.code == "insufficient_quota"
    assert len(service.engine.bodies) == 1
    client.chat.completions.create(model="tiny-agent", messages=ASKED)
