"""The parameters of a chat, one by one, through the API and the CPU engine: each does what it says,
or is refused with a hosted code and the name of the place.
"""

from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from examples.records_agent.tools import SCHEMAS
from tests.support.cases import cases
from tests.support.embedded.installation import Installation

CONTEXT = 1024
TOOLS = list(SCHEMAS)
SHORT: dict[str, Any] = {"max_completion_tokens": 8}
USER = {"role": "user", "content": "Work out 92 - 55."}
CALL = {"id": "c1", "type": "function", "function": {"name": "calculator", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "37"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}


@pytest.fixture
def client(live: Installation) -> OpenAI:
    return live.client()


def ask(client: OpenAI, **body: Any) -> Any:
    """One call with a body as it is written on the wire."""
    create: Any = client.chat.completions.create
    sent = {"messages": [USER], **body}
    return create(
        model=sent.pop("model", "tiny-agent"),
        messages=sent.pop("messages"),
        stream=sent.pop("stream", False),
        extra_body=sent,
    )


def called_with(arguments: str) -> dict[str, Any]:
    function = {**CALL["function"], "arguments": arguments}  # type: ignore[dict-item]  # the literal's values have several types
    return {**CALLED, "tool_calls": [{**CALL, "function": function}]}


TAKEN: list[dict[str, Any]] = [
    {"stream": False, "n": 1, "frequency_penalty": 0, "presence_penalty": 0, "logit_bias": {}},
    {"metadata": {"a": "b"}, "user": "u", "service_tier": "auto", "store": True},
    {"safety_identifier": "s", "prompt_cache_key": "k", "verbosity": "low"},
    {"modalities": ["text"], "response_format": {"type": "text"}},
    {"tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": False},
    {"tools": [{"type": "function", "function": {"name": "now", "strict": True}}]},
    {"temperature": None, "top_p": None, "stop": None, "tools": None, "audio": None},
    {"messages": [{"role": "developer", "content": "Be brief."}, USER]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "Work out 92 - 55."}]}]},
    {"messages": [USER, {"role": "assistant", "content": "The answer"}]},
    {"messages": [USER, CALLED, ANSWER]},
    {"messages": [USER, CALLED, {**ANSWER, "content": [{"type": "text", "text": "37"}]}]},
    {"messages": [USER, {"role": "assistant", "content": "37", "reasoning": "92 less 55."}, USER]},
    {
        "messages": [
            {**USER, "name": "ann"},
            {**CALLED, "refusal": None, "parsed": {"a": 1}},
            ANSWER,
        ]
    },
    {
        "messages": [
            USER,
            {**CALLED, "annotations": [], "tool_calls": [{**CALL, "index": 0}]},
            ANSWER,
        ]
    },
    {
        "messages": [
            USER,
            {**CALLED, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
            {**ANSWER, "tool_call_id": "c2"},
            ANSWER,
            USER,
        ]
    },
]


@cases("body", TAKEN, ids=",".join)
def test_what_is_taken_is_answered(client: OpenAI, body: dict[str, Any]) -> None:
    reply = ask(client, **SHORT, **body)
    assert 1 <= reply.usage.completion_tokens <= 8
    assert reply.choices[0].finish_reason in {"stop", "length", "tool_calls"}


def now(**function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "now", **function}}


NOW = now()
UNSUPPORTED, INVALID, TYPE = "unsupported_value", "invalid_value", "invalid_type"
UNKNOWN, SCHEMA_FAULT = "unknown_parameter", "invalid_function_parameters"
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"tools": TOOLS, "tool_choice": "required"}, UNSUPPORTED, "tool_choice"),
    ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "lookup"}}},
     UNSUPPORTED, "tool_choice"),
    ({"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "allowed_tools": {}}},
     UNSUPPORTED, "tool_choice.type"),
    ({"tools": [{"type": "custom", "custom": {"name": "a"}}]}, UNSUPPORTED, "tools[0].type"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, INVALID,
     "tools[0].function.name"),
    ({"tools": [{"type": "function"}]}, "missing_required_parameter", "tools[0].function"),
    ({"response_format": {"type": "json_object"}}, UNSUPPORTED, "response_format"),
    ({"response_format": SCHEMA}, UNSUPPORTED, "response_format"),
    ({"n": 2}, UNSUPPORTED, "n"),
    ({"frequency_penalty": 0.5}, UNSUPPORTED, "frequency_penalty"),
    ({"presence_penalty": 3}, "decimal_above_max_value", "presence_penalty"),
    ({"logit_bias": {"5": 5}}, UNSUPPORTED, "logit_bias"),
    ({"min_p": 0.1}, UNSUPPORTED, "min_p"),
    ({"repetition_penalty": 1.1}, UNSUPPORTED, "repetition_penalty"),
    ({"top_k": 5}, UNSUPPORTED, "top_k"),
    ({"min_tokens": 5}, UNSUPPORTED, "min_tokens"),
    ({"ignore_eos": True}, UNSUPPORTED, "ignore_eos"),
    ({"temperature": 3}, "decimal_above_max_value", "temperature"),
    ({"temperature": "hot"}, TYPE, "temperature"),
    ({"max_completion_tokens": 0}, "integer_below_min_value", "max_completion_tokens"),
    ({"top_logprobs": 3}, INVALID, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": 21}, "integer_above_max_value", "top_logprobs"),
    ({"max_tokens": 5, "max_completion_tokens": 5}, "invalid_parameter_combination", "max_tokens"),
    ({"tool_choice": "auto"}, INVALID, "tool_choice"),
    ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "zzz"}}}, INVALID,
     "tool_choice.function.name"),
    ({"tools": TOOLS * 2}, INVALID, f"tools[{len(TOOLS)}].function.name"),
    ({"tools": TOOLS * 65}, "array_above_max_length", "tools"),
    ({"tools": [{**NOW, "cache_control": {}}]}, UNKNOWN, "tools[0].cache_control"),
    ({"tools": [now(parameters={"type": "string"})]}, SCHEMA_FAULT,
     "tools[0].function.parameters.type"),
    ({"metadata": {"a": 1}}, TYPE, "metadata.a"),
    ({"stream_options": {"include_usage": True}}, INVALID, "stream_options"),
    ({"reasoning_effort": "endless"}, INVALID, "reasoning_effort"),
    ({"functions": [{"name": "lookup"}]}, "unsupported_parameter", "functions"),
    ({"function_call": "auto"}, "unsupported_parameter", "function_call"),
    ({"modalities": ["text", "audio"]}, UNSUPPORTED, "modalities"),
    ({"audio": {"voice": "alloy", "format": "wav"}}, "unsupported_parameter", "audio"),
    ({"web_search_options": {}}, "unsupported_parameter", "web_search_options"),
    ({"prediction": {"type": "content", "content": "37"}}, "unsupported_parameter", "prediction"),
    ({"tool": []}, "unknown_parameter", "tool"),
    ({"messages": []}, "empty_array", "messages"),
    ({"messages": ["hi"]}, TYPE, "messages[0]"),
    ({"messages": [{"role": "user", "content": "a"}] * 2049}, "array_above_max_length", "messages"),
    ({"messages": [{"content": "hi"}]}, "missing_required_parameter", "messages[0].role"),
    ({"messages": [{"role": "robot", "content": "hi"}]}, INVALID, "messages[0].role"),
    ({"messages": [USER, {"role": "function", "name": "f", "content": "1"}]}, UNSUPPORTED,
     "messages[1].role"),
    ({"messages": [{"role": "user", "content": None}]}, TYPE, "messages[0].content"),
    ({"messages": [{"role": "user", "content": [IMAGE]}]}, UNSUPPORTED, "messages[0].content"),
    ({"messages": [USER, {"role": "assistant", "content": None}]}, TYPE, "messages[1].content"),
    ({"messages": [USER, ANSWER]}, INVALID, "messages[1].role"),
    ({"messages": [USER, CALLED, USER, ANSWER]}, INVALID, "messages[1].tool_calls"),
    ({"messages": [USER, {**CALLED, "tool_calls": [CALL, {**CALL, "id": "c2"}]}, ANSWER, USER]},
     INVALID, "messages[1].tool_calls"),
    ({"messages": [USER, CALLED, ANSWER, ANSWER]}, INVALID, "messages[3].tool_call_id"),
    ({"messages": [USER, {**CALLED, "tool_calls": [CALL, CALL]}, ANSWER]}, INVALID,
     "messages[1].tool_calls[1].id"),
    ({"messages": [{**USER, "weight": 0}]}, UNKNOWN, "messages[0].weight"),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache": 1}]}]},
     UNKNOWN, "messages[0].content[0].cache"),
    ({"messages": [USER, {"role": "assistant", "content": "37", "refusal": "No."}]}, INVALID,
     "messages[1].refusal"),
    ({"messages": [USER, {"role": "assistant", "content": "37", "reasoning": "a",
                          "reasoning_content": "b"}]}, INVALID, "messages[1].reasoning_content"),
    ({"messages": [USER, CALLED, {**ANSWER, "tool_call_id": "c2"}]}, INVALID,
     "messages[2].tool_call_id"),
    ({"messages": [USER, called_with('{"expression": '), ANSWER]}, INVALID,
     "messages[1].tool_calls[0].function.arguments"),
    ({"messages": [USER, called_with('{"a": NaN}'), ANSWER]}, INVALID,
     "messages[1].tool_calls[0].function.arguments"),
    ({"messages": [{"role": "user", "content": "hi " * 20_000}]}, "context_length_exceeded",
     "messages"),
]  # fmt: skip


@cases(("body", "code", "param"), REFUSED, ids=[f"{param}-{code}" for _, code, param in REFUSED])
def test_a_refusal_names_the_parameter_in_hosted_words(
    client: OpenAI, body: dict[str, Any], code: str, param: str
) -> None:
    for stream in (False, True):
        if stream and "stream_options" in body:
            continue
        with pytest.raises(BadRequestError) as refused:
            ask(client, stream=stream, **body)
        assert (refused.value.code, refused.value.param) == (code, param)
        body_sent_back: Any = refused.value.body
        message = body_sent_back["message"]
        for leak in ("Input should", "Value error", "valid dictionary", "pattern '^null$'"):
            assert leak not in message
        assert message.endswith("." if param != "tool" else "tool"), message


@cases(
    ("options", "code", "param"),
    [
        ({"include_obfuscation": True}, UNSUPPORTED, "stream_options.include_obfuscation"),
        ({"continuous_usage_stats": True}, UNKNOWN, "stream_options.continuous_usage_stats"),
    ],
)
def test_an_option_of_a_stream_is_read_or_refused(
    client: OpenAI, options: dict[str, Any], code: str, param: str
) -> None:
    with pytest.raises(BadRequestError) as refused:
        ask(client, stream=True, stream_options=options)
    assert (refused.value.code, refused.value.param) == (code, param)


def test_a_stream_is_the_whole_answer_with_its_usage(client: OpenAI) -> None:
    whole = ask(client, temperature=0, **SHORT, logprobs=True, top_logprobs=2)
    options = {"include_usage": True}
    chunks = list(
        ask(client, temperature=0, **SHORT, stream=True, stream_options=options, logprobs=True)
    )
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == (
        whole.choices[0].message.content
    )
    streamed = [entry for choice in choices if choice.logprobs for entry in choice.logprobs.content]
    listed = whole.choices[0].logprobs.content
    assert len(listed) == whole.usage.completion_tokens
    assert [entry.token for entry in streamed] == [entry.token for entry in listed]
    assert all(len(entry.top_logprobs) == 2 for entry in listed)


def test_seed_and_temperature_0_repeat_an_answer(client: OpenAI) -> None:
    def text(**body: Any) -> Any:
        return ask(client, max_completion_tokens=24, **body).choices[0].message.content

    assert text(seed=5) == text(seed=5)
    assert len({text(seed=seed, temperature=2) for seed in range(6)}) > 1
    assert text(temperature=0) == text(temperature=0, seed=3)


def test_stop_ends_an_answer_before_itself(client: OpenAI) -> None:
    whole = ask(client, temperature=0, **SHORT).choices[0].message.content
    stop = whole[1:3]
    for sent in (stop, [stop, "unseen"]):
        choice = ask(client, temperature=0, **SHORT, stop=sent).choices[0]
        assert (choice.message.content, choice.finish_reason) == (
            whole[: whole.index(stop)],
            "stop",
        )


def test_tools_are_called_unless_the_choice_is_none(client: OpenAI) -> None:
    choice = ask(client, temperature=0, tools=TOOLS).choices[0]
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert call.function.name == "calculator"
    choice = ask(client, temperature=0, tools=TOOLS, tool_choice="none", **SHORT).choices[0]
    assert choice.message.tool_calls is None


@cases("limit", ["max_tokens", "max_completion_tokens"])
def test_a_limit_is_the_most_tokens_of_an_answer(client: OpenAI, limit: str) -> None:
    whole = ask(client, temperature=0)
    assert whole.choices[0].finish_reason == "stop"
    less = whole.usage.completion_tokens - 1
    reply = ask(client, temperature=0, **{limit: less})
    assert (reply.usage.completion_tokens, reply.choices[0].finish_reason) == (less, "length")


def test_without_a_limit_an_answer_ends_by_itself_or_with_the_context(client: OpenAI) -> None:
    replies = [
        ask(client, messages=[{"role": "user", "content": "zzz"}], temperature=2, seed=seed)
        for seed in range(8)
    ]
    cut = [reply for reply in replies if reply.choices[0].finish_reason == "length"]
    assert all(reply.usage.total_tokens == CONTEXT for reply in cut)
    assert max(reply.usage.completion_tokens for reply in replies) > 256
