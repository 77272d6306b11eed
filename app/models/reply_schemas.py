"""Chat replies on the wire. Source: the hosted API. The engine's reply is passed on unchanged and
may have further keys; a field with a default may be absent.
"""

from collections.abc import AsyncIterator
from typing import Any, Final, Literal, Protocol

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import ConfigDict, Field

from app.http.requests import unless_client_hangs_up
from app.kit.fields import DescribedModel

FinishReason = Literal["stop", "length", "tool_calls"]


class _ExtensibleReply(DescribedModel):
    model_config = ConfigDict(extra="allow")


class ChatFunctionCall(_ExtensibleReply):
    """The function that a tool call names, with its arguments."""

    name: str
    """Name of the function."""
    arguments: str
    """JSON as text."""


class ChatToolCall(_ExtensibleReply):
    """A call of a tool that the client runs."""

    id: str
    """Id that the `tool` message in reply repeats."""
    type: Literal["function"]
    """Always `function`."""
    function: ChatFunctionCall
    """The function that is called."""


class ChatFunctionCallDelta(_ExtensibleReply):
    """The function of a call in a stream."""

    name: str | None = None
    """Name of the function, in the call's first piece."""
    arguments: str | None = None
    """Text to append to the arguments."""


class ChatToolCallDelta(_ExtensibleReply):
    """A piece of a tool call in a stream. The CPU engine sends a call in one piece, vLLM its id and
    name first and then its arguments as they are sampled.
    """

    index: int
    """Number of the call in its message, from 0; all pieces of a call have the same."""
    id: str | None = None
    """Id that the `tool` message in reply repeats, in the call's first piece."""
    type: Literal["function"] | None = None
    """Always `function`, in the call's first piece."""
    function: ChatFunctionCallDelta | None = None
    """The function that is called, or more of its arguments."""


class ToolCallError(_ExtensibleReply):
    """A tool call that cannot be parsed (an extension): its text is the message's content."""

    type: Literal["unparsable_tool_call"]
    """Always `unparsable_tool_call`."""
    message: str
    """The sentence that the model reads in training, as the reply to the call."""
    tool_call_id: str
    """Id for the `tool` message in reply."""


class TopLogprob(_ExtensibleReply):
    """Log-prob of one token."""

    token: str
    """Text of the token."""
    logprob: float
    """Natural logarithm of its probability."""
    bytes: list[int] | None
    """UTF-8 bytes of the text."""


class TokenLogprob(TopLogprob):
    """Log-prob of a sampled token, with the most probable tokens at its position."""

    top_logprobs: list[TopLogprob]
    """The most probable tokens at this position, as many as requested."""


class Logprobs(_ExtensibleReply):
    """Log-probs of the tokens of an answer."""

    content: list[TokenLogprob] | None
    """One entry for each sampled token."""
    refusal: list[TokenLogprob] | None = None
    """Always `null`."""


class ChatMessage(_ExtensibleReply):
    """The message of an answer; send it back unchanged to continue the conversation."""

    role: Literal["assistant"]
    """Always `assistant`."""
    content: str | None
    """The answer without reasoning and tool calls; `null` if there are only calls."""
    reasoning: str | None = None
    """Reasoning in front of the answer (an extension)."""
    tool_calls: list[ChatToolCall] = Field(default_factory=list)
    """Calls of the tools that were offered."""
    tool_call_error: ToolCallError | None = None
    """Present if the model wrote a call that cannot be parsed (an extension)."""


class ChatChoice(_ExtensibleReply):
    """One answer of a whole reply."""

    index: int
    """Number of the answer, from 0."""
    message: ChatMessage
    """The answer."""
    logprobs: Logprobs | None
    """Log-probs of the sampled tokens, if requested."""
    finish_reason: FinishReason
    """`length`: the answer was cut at the limit of tokens or at the end of the context."""


class PromptTokensDetails(_ExtensibleReply):
    """The parts of the tokens of a prompt."""

    cached_tokens: int
    """Prompt tokens that were read from the prefix cache."""


class CompletionTokensDetails(_ExtensibleReply):
    """The parts of the tokens that were sampled."""

    reasoning_tokens: int
    """Sampled tokens that are reasoning."""


class ChatUsage(_ExtensibleReply):
    """The tokens that a call took."""

    prompt_tokens: int
    """Tokens of the prompt."""
    completion_tokens: int
    """Tokens that were sampled."""
    total_tokens: int
    """Their sum."""
    prompt_tokens_details: PromptTokensDetails | None = None
    """Parts of the prompt."""
    completion_tokens_details: CompletionTokensDetails | None = None
    """Parts of the answer."""


class ChatCompletion(_ExtensibleReply):
    """A whole reply to a call of a model."""

    id: str
    """Id of the call."""
    object: Literal["chat.completion"]
    created: int
    """Unix seconds."""
    model: str
    """Full name of the model that answered."""
    choices: list[ChatChoice] = Field(min_length=1)
    """The answers: one, unless the engine takes a higher `n`."""
    usage: ChatUsage
    """Tokens of the call."""


class ChatDelta(_ExtensibleReply):
    """An addition to the message."""

    role: Literal["assistant"] | None = None
    """Always `assistant`; in the first chunk only."""
    content: str | None = None
    """Text to append."""
    reasoning: str | None = None
    """Reasoning to append (an extension)."""
    tool_calls: list[ChatToolCallDelta] | None = None
    """Calls to append."""
    tool_call_error: ToolCallError | None = None
    """In the last chunk of an answer with a call that cannot be parsed (an extension)."""


class ChatChunkChoice(_ExtensibleReply):
    """The addition to one answer of a stream."""

    index: int
    """Number of the answer, from 0."""
    delta: ChatDelta
    """The addition."""
    logprobs: Logprobs | None = None
    """Log-probs of the tokens since the previous chunk, if requested."""
    finish_reason: FinishReason | None
    """In the last chunk of the answer."""


class ChatCompletionChunk(_ExtensibleReply):
    """A part of a streamed answer, the data of one server-sent event."""

    id: str
    """Id of the call, the same in all of its chunks."""
    object: Literal["chat.completion.chunk"]
    created: int
    """Unix seconds, the same in all chunks."""
    model: str
    """Full name of the model that answered."""
    choices: list[ChatChunkChoice]
    """The addition; empty in the chunk with the usage."""
    usage: ChatUsage | None = None
    """Tokens of the call, in a last chunk of its own with `stream_options.include_usage`."""


CHUNK_SCHEMA: Final = {"$ref": f"#/components/schemas/{ChatCompletionChunk.__name__}"}
CHAT_REPLIES: Final[tuple[type[DescribedModel], ...]] = (
    *_ExtensibleReply.__subclasses__(),
    TokenLogprob,
)
"""Replies that this service does not build: their optional fields may be absent."""
COMPLETION_REPLY: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "model": ChatCompletion,
        "description": "A completion; with `stream`, its chunks as server-sent events.",
        "content": {"text/event-stream": {"schema": CHUNK_SCHEMA}},
    }
}


class Completions(Protocol):
    async def chat(self, body: dict[str, Any]) -> dict[str, Any]: ...

    async def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]: ...


async def completion_reply(
    request: Request, completions: Completions, sent: dict[str, Any]
) -> Response:
    """Samples a model with the body that was sent. A client that hangs up ends the sampling."""
    if sent.get("stream"):
        chunks = await unless_client_hangs_up(request, completions.chat_stream(sent))
        return StreamingResponse(chunks, media_type="text/event-stream")
    return JSONResponse(await unless_client_hangs_up(request, completions.chat(sent)))
