from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import AuthenticationError, BadRequestError, InternalServerError, OpenAI

from app.models.models import BaseModelSpec
from app.rollouts.renderer import Renderer
from tests.support.engines.conversations import BROKEN, TOOL_TURNS, ask, chunks_of
from tests.support.engines.engine_server import running_engine
from tests.support.models.tiny_model import CONTEXT_LENGTH, LOOKUP, save_parrot
from tests.support.rendering.family_templates import NO_TOOLS

KEY = "sk-engine"
THINKING: list[Any] = [
    {"role": "user", "content": "Work out 12 + 30."},
    {"role": "assistant", "content": "<think>\nI should add.\n</think>\n\nThe answer is 42."},
]
LONE_END: list[dict[str, Any]] = [
    {"role": "user", "content": "Tell me the colour."},
    {"role": "assistant", "content": "Red.</think> Or not."},
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    root = tmp_path_factory.mktemp("parrot")
    save_parrot(root, [TOOL_TURNS, THINKING, BROKEN, LONE_END])
    spec = BaseModelSpec(name="parrot", path=str(root), context_length=CONTEXT_LENGTH)
    template = root / "no_tools.jinja"
    template.write_text(NO_TOOLS.template)
    plain = spec.model_copy(update={"name": "plain", "chat_template": template})
    with running_engine([spec, plain], api_key=KEY) as url:
        yield url, root


@pytest.fixture
def client(engine: tuple[str, Path]) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{engine[0]}/v1", api_key=KEY, max_retries=0) as client:
        yield client


def test_tools_are_refused_where_the_template_shows_none(client: OpenAI) -> None:
    chat: Any = client.chat.completions.create
    with pytest.raises(BadRequestError, match="`plain` cannot be used with tools") as refused:
        chat(model="plain", messages=TOOL_TURNS[:1], tools=[LOOKUP])
    assert refused.value.param == "tools"
    answer = chat(model="plain", messages=TOOL_TURNS[:1], max_completion_tokens=2)
    assert answer.usage.completion_tokens == 2


def test_a_tool_loop_through_the_openai_client(client: OpenAI) -> None:
    first = ask(client, TOOL_TURNS[:1], tools=[LOOKUP])
    choice = first.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Looking."
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls]
    assert calls == [("lookup", '{"record": "P017"}'), ("lookup", '{"record": "P233"}')]
    ids = [call.id for call in choice.message.tool_calls]
    assert len(set(ids)) == 2
    assert all(call_id.startswith("call_") for call_id in ids)
    replies = [
        {"role": "tool", "tool_call_id": call_id, "content": text}
        for call_id, text in zip(ids, ("42", "43"), strict=True)
    ]
    history = [*TOOL_TURNS[:1], choice.message.model_dump(exclude_none=True), *replies]
    second = ask(client, history, tools=[LOOKUP])
    assert second.choices[0].message.content == "The answer is 42."
    assert second.choices[0].finish_reason == "stop"
    assert second.usage.total_tokens == second.usage.prompt_tokens + second.usage.completion_tokens
    assert second.usage.prompt_tokens_details.cached_tokens > 50


def test_parallel_tool_calls_false_keeps_the_first(client: OpenAI) -> None:
    reply = ask(client, TOOL_TURNS[:1], tools=[LOOKUP], parallel_tool_calls=False)
    assert len(reply.choices[0].message.tool_calls) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_with_too_many_characters_is_refused_unencoded(
    client: OpenAI, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    encoded: list[int] = []
    encode = Renderer.encode

    def counted(renderer: Renderer, text: str) -> list[int]:
        encoded.append(len(text))
        return encode(renderer, text)

    monkeypatch.setattr(Renderer, "encode", counted)
    ask(client, TOOL_TURNS[:1])
    assert len(encoded) == 1
    with pytest.raises(BadRequestError) as refused:
        ask(client, [{"role": "user", "content": "x" * 3_600_000}], stream=stream)
    assert f"maximum context length is {CONTEXT_LENGTH} tokens" in refused.value.message
    assert len(encoded) == 1


def test_reasoning_is_separated_and_counted(client: OpenAI, engine: tuple[str, Path]) -> None:
    reply = ask(client, THINKING[:1])
    assert reply.choices[0].message.content == "The answer is 42."
    assert reply.choices[0].message.reasoning == "I should add."
    renderer = Renderer(str(engine[1]), tool_parser="hermes", chat_template=None)
    expected = renderer.count_tokens("<think>\nI should add.\n</think>")
    assert reply.usage.completion_tokens_details.reasoning_tokens == expected


def _unstreamed(reply: Any) -> dict[str, Any]:
    (choice,) = reply.choices
    calls = [
        (call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()
    ]
    return {
        "content": choice.message.content or "",
        "reasoning": getattr(choice.message, "reasoning", None),
        "calls": calls,
        "finish_reason": choice.finish_reason,
        "logprobs": choice.logprobs.content,
        "usage": reply.usage.model_copy(update={"prompt_tokens_details": None}),
    }


def _combined(chunks: list[Any]) -> dict[str, Any]:
    """Combines the chunks of a stream into the form that `_unstreamed` returns."""
    *chunks, last = chunks
    choices = [chunk.choices[0] for chunk in chunks]
    deltas = [choice.delta for choice in choices]
    thoughts = [delta.reasoning for delta in deltas if getattr(delta, "reasoning", None)]
    functions = [call.function for delta in deltas for call in delta.tool_calls or ()]
    assert all(choice.finish_reason is None for choice in choices[:-1])
    return {
        "content": "".join(delta.content or "" for delta in deltas),
        "reasoning": "".join(thoughts) or None,
        "calls": [(function.name, function.arguments) for function in functions],
        "finish_reason": choices[-1].finish_reason,
        "logprobs": [e for c in choices if c.logprobs is not None for e in c.logprobs.content],
        "usage": last.usage.model_copy(update={"prompt_tokens_details": None}),
    }


SETTINGS: list[dict[str, Any]] = [
    {"temperature": 0},
    {"temperature": 0, "stop": ["swer is 4"]},
    {"temperature": 0, "stop": ["ould add.\n</thi", "nothing"]},
    {"temperature": 0, "stop": ["I should ad"]},
    {"temperature": 0, "stop": ['"lookup", "arg']},
    {"temperature": 0, "stop": ["</think>"]},
    {"temperature": 0, "max_completion_tokens": 4},
    *(
        {"temperature": 1.1, "seed": seed, "top_p": 0.95, "stop": ["er", " P0"]}
        for seed in range(3)
    ),
    *({"temperature": 1.6, "seed": seed, "stop": ["t", "the", "42"]} for seed in range(3)),
    *({"temperature": 1.4, "seed": seed} for seed in range(3)),
]


@pytest.mark.parametrize("tools", [None, [LOOKUP]])
@pytest.mark.parametrize("messages", [TOOL_TURNS[:1], THINKING[:1], BROKEN[:1]])
def test_a_streamed_answer_equals_a_whole_one(
    client: OpenAI, messages: list[Any], tools: list[Any] | None
) -> None:
    for settings in SETTINGS:
        options = {"logprobs": True, "top_logprobs": 2, "max_completion_tokens": 60, **settings}
        if tools:
            options["tools"] = tools
        whole = _unstreamed(ask(client, messages, **options))
        chunks = chunks_of(client, messages, stream_options={"include_usage": True}, **options)
        assert _combined(chunks) == whole
        assert len(whole["logprobs"]) == whole["usage"].completion_tokens


def test_an_answer_ends_with_the_token_that_completes_a_stop_string(
    client: OpenAI, engine: tuple[str, Path]
) -> None:
    """Tokens that the engine samples after the cut are not reported."""
    renderer = Renderer(str(engine[1]), tool_parser="hermes", chat_template=None)
    stops, cut = ["e", "42", " a"], 0
    for seed in range(20):
        reply = ask(
            client,
            THINKING[:1],
            temperature=1.3,
            seed=seed,
            stop=stops,
            logprobs=True,
            extra_body={"return_token_ids": True},
        )
        ids = reply.choices[0].token_ids
        cut += any(stop in renderer.decode(ids) for stop in stops)
        assert not any(stop in renderer.decode(ids[:-1]) for stop in stops)
        assert reply.usage.completion_tokens == len(reply.choices[0].logprobs.content) == len(ids)
    assert cut > 10


def test_a_stop_string_cuts_reasoning_too(client: OpenAI) -> None:
    choice = ask(client, THINKING[:1], stop=[" add"]).choices[0]
    assert (choice.message.content, choice.message.reasoning) == ("", "I should")


def test_a_lone_end_of_reasoning_is_content(client: OpenAI) -> None:
    choice = ask(client, LONE_END[:1]).choices[0]
    assert choice.message.content == LONE_END[1]["content"]
    chunks = chunks_of(client, LONE_END[:1], stream_options={"include_usage": True}, logprobs=True)
    assert _combined(chunks)["content"] == LONE_END[1]["content"]


def test_another_key_is_refused(engine: tuple[str, Path]) -> None:
    with (
        OpenAI(base_url=f"{engine[0]}/v1", api_key="wrong", max_retries=0) as stranger,
        pytest.raises(AuthenticationError),
    ):
        stranger.models.list()


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"n": 2}, "n"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"extra_body": {"min_tokens": 5}}, "min_tokens"),
    ],
)
def test_what_this_engine_lacks_is_refused_by_name(
    client: OpenAI, asked: dict[str, Any], param: str
) -> None:
    with pytest.raises(BadRequestError) as refused:
        ask(client, THINKING[:1], **asked)
    assert (refused.value.code, refused.value.param) == ("unsupported_value", param)
    error: Any = refused.value.body
    assert error["message"].startswith(f"Unsupported value: '{param}' does not support")


def test_internal_faults_are_500_and_do_not_end_the_engine(client: OpenAI) -> None:
    """Uses a template with an unexpected failure as an example of a bug."""
    with pytest.raises((BadRequestError, InternalServerError)):
        client.chat.completions.create(
            model="parrot",
            messages=[{"role": "assistant", "content": "a", "tool_calls": [{"function": 3}]}],  # type: ignore[list-item]  # the malformed tool call is the case
        )
    assert ask(client, THINKING[:1]).choices[0].message.content == "The answer is 42."
