"""The chat endpoint, on which the API's chat completions are based."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError, OpenAI

from app.files.conversations import engine_messages
from app.kit.errors import InvalidRequest
from app.models.engine_http import HttpInference
from app.models.models import BaseModelSpec
from app.rollouts.renderer import Renderer
from tests.support.engines.contract import ENGINES, KEY, TOLERANCE, World, running
from tests.support.engines.conversations import (
    BROKEN,
    PLAIN,
    TOOL_TURNS,
    ask,
    chunks_of,
    save_answering_parrot,
)
from tests.support.models.tiny_model import CONTEXT_LENGTH, LOOKUP
from tests.support.patience import PATIENCE_S


@pytest.fixture(scope="module", params=ENGINES)
def parrot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """An engine whose model repeats the conversations."""
    root = tmp_path_factory.mktemp("parrot")
    spec = BaseModelSpec(
        name="parrot",
        path=str(root),
        context_length=CONTEXT_LENGTH,
        max_turn_tokens=4,  # a limit of rollouts, not of chats
        chat_template=save_answering_parrot(root),
    )
    with running(request.param, spec, tmp_path_factory.mktemp("engine")) as url:
        yield World(request.param, url, spec)


@pytest.fixture
def client(parrot: World) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{parrot.url}/v1", api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture
async def gateway(parrot: World) -> AsyncIterator[HttpInference]:
    inference = HttpInference(parrot.url, api_key=KEY)
    yield inference
    await inference.aclose()


def test_a_tool_loop_through_the_openai_client(client: OpenAI) -> None:
    first = ask(client, TOOL_TURNS[:1], tools=[LOOKUP])
    choice = first.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content.strip() == "Looking."
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert calls == [("lookup", '{"record": "P017"}'), ("lookup", '{"record": "P233"}')]
    ids = [call.id for call in choice.message.tool_calls]
    assert len(set(ids)) == 2
    replies = [
        {"role": "tool", "tool_call_id": call_id, "content": text}
        for call_id, text in zip(ids, ("42", "43"), strict=True)
    ]
    message = choice.message.model_dump(exclude_none=True)
    history = [*TOOL_TURNS[:1], {**message, "content": message["content"].strip()}, *replies]
    second = ask(client, history, tools=[LOOKUP])
    assert second.choices[0].message.content == "The answer is 42."
    assert second.choices[0].finish_reason == "stop"
    assert second.usage.total_tokens == second.usage.prompt_tokens + second.usage.completion_tokens


def test_what_an_engine_reads_and_writes_is_what_the_renderer_does(
    client: OpenAI, parrot: World
) -> None:
    """Compares the prompt ids of equal messages and the reading of equal sampled ids, at low to
    high temperatures, so that well-formed, malformed and unfinished calls all occur.
    """
    renderer = Renderer(parrot.spec.path, tool_parser="hermes", chat_template=None)
    messages, seen = TOOL_TURNS[:1], {"calls": 0, "none": 0, "broken": 0}
    for seed in range(20):
        reply = ask(
            client,
            messages,
            tools=[LOOKUP],
            temperature=0.6 + seed / 20,
            seed=seed,
            max_completion_tokens=60,
            extra_body={"return_token_ids": True},
        ).model_dump()
        assert reply["prompt_token_ids"] == renderer.prompt_ids(messages, [LOOKUP])
        choice = reply["choices"][0]
        parsed = renderer.parser.parse(choice["token_ids"], tools=[LOOKUP])
        calls = [call["function"] for call in choice["message"]["tool_calls"] or ()]
        assert [(call["name"], call["arguments"]) for call in calls] == [
            (call.name, call.arguments_json) for call in parsed.tool_calls
        ]
        seen["broken" if parsed.parse_error else "calls" if calls else "none"] += 1
        assert (choice["message"]["content"] or "") == parsed.content
        assert (choice["message"].get("reasoning") or "") == parsed.reasoning
    assert min(seen.values()) >= 1, seen


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_a_conversation_is_read_with_its_reasoning_and_refusals(
    client: OpenAI, parrot: World, name: str
) -> None:
    refused = {"role": "assistant", "content": None, "refusal": "I cannot."}
    parts = [{"type": "text", "text": "Sorry: "}, {"type": "refusal", "refusal": "never."}]
    sent: list[dict[str, Any]] = [
        {**PLAIN[0], "name": "ann"},
        {**refused, name: "It is a sum."},
        PLAIN[0],
        {"role": "assistant", "content": parts, "annotations": []},
        PLAIN[0],
    ]
    reported = parrot.spec.chat_template
    renderer = Renderer(parrot.spec.path, tool_parser="hermes", chat_template=reported)
    plain = [
        PLAIN[0],
        {"role": "assistant", "content": "I cannot.", "reasoning_content": "It is a sum."},
        PLAIN[0],
        {"role": "assistant", "content": "Sorry: never."},
        PLAIN[0],
    ]
    reply = ask(client, engine_messages(sent), extra_body={"return_token_ids": True}).model_dump()
    assert reply["prompt_token_ids"] == renderer.prompt_ids(plain, [])
    assert "It is a sum." in renderer.decode(reply["prompt_token_ids"])


@pytest.mark.parametrize("effort", [None, "low", "high"])
async def test_an_effort_is_rendered_as_the_rollouts_have_it(
    gateway: HttpInference, parrot: World, effort: str | None
) -> None:
    renderer = Renderer(
        parrot.spec.path,
        tool_parser="hermes",
        chat_template=parrot.spec.chat_template,
        reasoning_effort=effort,
    )
    text = renderer.prompt_text(PLAIN[:1], None)
    assert ("Effort" in text, "no thought" in text) == (effort is not None, effort == "low")
    body = {"model": "parrot", "messages": PLAIN[:1], "reasoning_effort": effort, "max_tokens": 1}
    reply = await gateway.chat({**body, "return_token_ids": True})
    assert reply["prompt_token_ids"] == renderer.prompt_ids(PLAIN[:1], None)


def test_a_broken_call_is_plain_content(client: OpenAI) -> None:
    for tools in (None, [LOOKUP]):
        choice = ask(client, BROKEN[:1], tools=tools).choices[0]
        if tools is None:
            assert choice.message.content == BROKEN[1]["content"]
        assert not choice.message.tool_calls
        assert choice.finish_reason == "stop"


def test_tool_choice_none_leaves_calls_as_text(client: OpenAI) -> None:
    message = ask(client, TOOL_TURNS[:1], tools=[LOOKUP], tool_choice="none").choices[0].message
    assert not message.tool_calls
    assert message.content.startswith("Looking.\n<tool_call>")


def test_streamed_content_adds_up(client: OpenAI) -> None:
    *chunks, last = chunks_of(client, PLAIN[:1], stream_options={"include_usage": True})
    assert chunks[0].choices[0].delta.role == "assistant"
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
    assert "".join(pieces) == PLAIN[1]["content"]
    assert len([piece for piece in pieces if piece]) > 3
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert (last.choices, last.usage.completion_tokens > 5) == ([], True)


def test_streamed_tool_calls_add_up(client: OpenAI) -> None:
    chunks = chunks_of(client, TOOL_TURNS[:1], tools=[LOOKUP])
    content = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert content.strip() == "Looking."
    calls: dict[int, dict[str, str]] = {}
    for chunk in chunks:
        for call in chunk.choices[0].delta.tool_calls or []:
            entry = calls.setdefault(call.index, {"name": "", "arguments": ""})
            entry["name"] += call.function.name or ""
            entry["arguments"] += call.function.arguments or ""
    assert {i: (c["name"], json.loads(c["arguments"])) for i, c in calls.items()} == {
        0: ("lookup", {"record": "P017"}),
        1: ("lookup", {"record": "P233"}),
    }
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (["swer is 4", "xyz"], "The an"),
        (["k.", "zzz"], "The answer is 42, I thin"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_stop_strings_cut_the_answer(
    client: OpenAI, stream: bool, stop: list[str], expected: str
) -> None:
    if stream:
        chunks = chunks_of(client, PLAIN[:1], stop=stop)
        content = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        finish_reason = chunks[-1].choices[0].finish_reason
    else:
        choice = ask(client, PLAIN[:1], stop=stop).choices[0]
        content, finish_reason = choice.message.content, choice.finish_reason
    assert (content, finish_reason) == (expected, "stop")


def test_length_and_log_probs(client: OpenAI) -> None:
    choice = ask(client, PLAIN[:1], max_completion_tokens=3, logprobs=True, top_logprobs=2).choices[
        0
    ]
    assert choice.finish_reason == "length"
    entries = choice.logprobs.content
    assert len(entries) == 3
    assert all(entry.top_logprobs[0].logprob == entry.logprob for entry in entries)
    assert all(-0.7 < entry.logprob <= 0 for entry in entries)


def test_streamed_log_probs_add_up_to_those_of_the_whole(client: OpenAI) -> None:
    options = {"logprobs": True, "top_logprobs": 2}
    expected_entries = ask(client, PLAIN[:1], **options).choices[0].logprobs.content
    chunks = chunks_of(client, PLAIN[:1], **options)
    streamed = [
        entry
        for chunk in chunks
        if chunk.choices[0].logprobs is not None
        for entry in chunk.choices[0].logprobs.content or ()
    ]
    assert len(expected_entries) > 5
    assert [entry.token for entry in streamed] == [entry.token for entry in expected_entries]
    for found, expected in zip(streamed, expected_entries, strict=True):
        assert found.logprob == pytest.approx(expected.logprob, abs=TOLERANCE)
        assert len(found.top_logprobs) == 2


@pytest.mark.parametrize("settings", [{"top_p": 0.1}, {"temperature": 1e-40}, {"temperature": 0}])
async def test_no_log_prob_is_beyond_json(
    gateway: HttpInference, settings: dict[str, float]
) -> None:
    """Checks this through the gateway, which refuses a reply with NaN or Infinity."""
    body = {"model": "parrot", "messages": PLAIN[:1], "temperature": 1, "seed": 3, **settings}
    reply = await gateway.chat({**body, "logprobs": True, "top_logprobs": 5})
    entries = reply["choices"][0]["logprobs"]["content"]
    assert entries
    assert all(-20 < entry["logprob"] <= 0 and entry["top_logprobs"] for entry in entries)
    assert reply["choices"][0]["message"]["content"] == PLAIN[1]["content"]


def test_errors_are_the_clients_own(client: OpenAI) -> None:
    with pytest.raises(NotFoundError, match="does not exist"):
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "a"}])
    faults: list[dict[str, Any]] = [
        {"messages": []},
        {"messages": [{"role": "user", "content": "a"}], "tools": [{"type": "function"}]},
        {"messages": [{"content": "a"}]},
        {"messages": [{"role": "user", "content": "12 " * 2000}]},
        {"messages": [{"role": "user", "content": "a"}], "temperature": "hot"},
    ]
    for bad in faults:
        with pytest.raises(BadRequestError):
            client.chat.completions.create(model="parrot", **bad)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_without_a_limit_may_fill_the_context(client: OpenAI, stream: bool) -> None:
    ask: Any = client.chat.completions.create
    reply = ask(model="parrot", messages=PLAIN[:1], temperature=0, stream=stream)
    if stream:
        text = "".join(chunk.choices[0].delta.content or "" for chunk in reply)
    else:
        text = reply.choices[0].message.content
        assert reply.usage.completion_tokens > 4
    assert text == PLAIN[1]["content"]


async def test_a_prompt_that_fills_the_context_has_the_hosted_code(gateway: HttpInference) -> None:
    long = {"model": "parrot", "messages": [{"role": "user", "content": "12 " * 2000}]}
    with pytest.raises(InvalidRequest, match="maximum context length is 512 tokens") as refused:
        await gateway.chat(long)
    assert refused.value.code == "context_length_exceeded"


async def test_leaving_a_stream_frees_the_engine(parrot: World) -> None:
    async with AsyncOpenAI(base_url=f"{parrot.url}/v1", api_key=KEY, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="parrot",
            messages=[{"role": "user", "content": "tell"}],
            temperature=2,
            max_completion_tokens=400,
            stream=True,
        )
        await anext(aiter(stream))
        await stream.close()
        asked = client.chat.completions.create(model="parrot", messages=PLAIN[:1], temperature=0)  # type: ignore[arg-type]  # a plain dict is sent where the client has a typed one
        reply = await asyncio.wait_for(asked, PATIENCE_S)
        assert reply.choices[0].message.content == PLAIN[1]["content"]


async def test_chat_through_the_gateway(gateway: HttpInference) -> None:
    body = {"model": "parrot", "messages": PLAIN[:1], "temperature": 0}
    reply = await gateway.chat(body)
    assert reply["choices"][0]["message"]["content"] == PLAIN[1]["content"]
    streamed = b"".join([chunk async for chunk in gateway.chat_stream(body)])
    assert streamed.endswith(b"data: [DONE]\n\n")
    first = json.loads(streamed.split(b"\n\n")[0][6:])
    assert first["object"] == "chat.completion.chunk"
