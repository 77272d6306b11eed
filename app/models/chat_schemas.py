"""Messages of a chat request, for the specification (`app.models.chat` checks them)."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SkipValidation

from app.files.conversations import MAX_MESSAGES
from app.jobs.reinforcement import MAX_TOOLS
from app.jobs.response_formats import CalledEffort
from app.kit.fields import DescribedModel
from app.kit.schemas import WireModel
from app.kit.texts import TOOL_NAME


class _SentMessage(DescribedModel):
    model_config = ConfigDict(extra="allow")


class ChatTextPart(_SentMessage):
    """A part of a message's text."""

    type: Literal["text"]
    """Always `text`."""
    text: str
    """The text."""


class ChatRefusalPart(_SentMessage):
    """A part of an assistant's message in which it refused; the model reads it as text."""

    type: Literal["refusal"]
    """Always `refusal`."""
    refusal: str
    """The text."""


class ChatRequestFunctionCall(_SentMessage):
    """Function and arguments of a call."""

    name: str
    """Name of the function."""
    arguments: str
    """A JSON object as text."""


class ChatRequestToolCall(_SentMessage):
    """A call that the model made earlier."""

    id: str
    """Id that the `tool` message in reply repeats; no two calls of a message share one."""
    type: Literal["function"] = "function"
    """Always `function`."""
    function: ChatRequestFunctionCall
    """The function that is called."""


class ChatToolCallError(_SentMessage):
    """The mark of a call that cannot be parsed, sent back as in the reply (an extension)."""

    type: str
    """`unparsable_tool_call`."""
    message: str
    """The sentence that the `tool` message in reply contains."""
    tool_call_id: str
    """Id that the `tool` message in reply repeats."""


class ChatSystemMessage(_SentMessage):
    """Instructions; `developer` is another name of `system`."""

    role: Literal["system", "developer"]
    """Role of the speaker."""
    content: str | list[ChatTextPart]
    """The text, whole or in parts."""
    name: str | None = None
    """Name of the speaker; few chat templates show it."""


class ChatUserMessage(_SentMessage):
    """A message of the user."""

    role: Literal["user"]
    """Role of the speaker."""
    content: str | list[ChatTextPart]
    """The text, whole or in parts."""
    name: str | None = None
    """Name of the speaker; few chat templates show it."""


class ChatAssistantMessage(_SentMessage):
    """An earlier answer of the model. Send a reply's message back unchanged."""

    role: Literal["assistant"]
    """Role of the speaker."""
    content: str | list[ChatTextPart | ChatRefusalPart] | None = None
    """The text; may be absent in an answer that has only calls, a refusal or reasoning."""
    refusal: str | None = None
    """A refusal instead of content; the model reads it as text."""
    tool_calls: list[ChatRequestToolCall] | None = None
    """Calls; the messages that follow answer each of them once."""
    reasoning: str | None = None
    """Reasoning in front of the answer (an extension); the chat template decides on its use."""
    reasoning_content: str | None = None
    """Another name of `reasoning` (an extension)."""
    tool_call_error: ChatToolCallError | None = None
    """The mark of a call that cannot be parsed, as in the reply (an extension)."""
    name: str | None = None
    """Name of the speaker; few chat templates show it."""


class ChatToolMessage(_SentMessage):
    """The answer to a tool call."""

    role: Literal["tool"]
    """Role of the speaker."""
    content: str | list[ChatTextPart]
    """The result, as the model reads it."""
    tool_call_id: str
    """Id of the call that it answers."""
    name: str | None = None
    """Name of the function; few chat templates show it."""


ChatRequestMessage = Annotated[
    ChatSystemMessage | ChatUserMessage | ChatAssistantMessage | ChatToolMessage,
    Field(discriminator="role"),
]


class _ExtensibleOption(DescribedModel):
    model_config = ConfigDict(extra="allow")


class ChatStreamOptions(_ExtensibleOption):
    """Options of a streamed answer."""

    include_usage: bool | None = None
    """True sends the usage in a last chunk of its own."""
    include_obfuscation: Literal[False] | None = None
    """Only false: chunks have no padding."""


class ChatFunction(_ExtensibleOption):
    """A function that the model may call."""

    name: str = Field(pattern=TOOL_NAME)
    """Name that calls contain."""
    description: str | None = None
    """Its purpose, for the model."""
    parameters: dict[str, Any] | None = None
    """JSON schema of its arguments, of type `object`."""
    strict: bool | None = None
    """Changes nothing: arguments are not constrained by the schema."""


class ChatTool(_ExtensibleOption):
    """A tool that the client runs."""

    type: Literal["function"]
    """Always `function`."""
    function: ChatFunction
    """The function."""


class ChatFunctionName(_ExtensibleOption):
    """The function that the model must call."""

    name: str = Field(pattern=TOOL_NAME)
    """Name of one of the tools."""


class ChatNamedTool(_ExtensibleOption):
    """The choice of one tool."""

    type: Literal["function"]
    """Always `function`."""
    function: ChatFunctionName
    """The function."""


class ChatJsonSchema(_ExtensibleOption):
    """A named JSON schema."""

    name: str = Field(pattern=TOOL_NAME)
    """Name of the schema."""
    description: str | None = None
    """Description of the schema, for the model."""
    schema_: dict[str, Any] = Field(alias="schema", description="The JSON schema.")
    strict: bool | None = None
    """True requires answers that follow the schema exactly."""


class ChatResponseFormat(_ExtensibleOption):
    """Format of the answer."""

    type: Literal["text", "json_object", "json_schema"]
    """Kind of the format."""
    json_schema: ChatJsonSchema | None = None
    """The schema, for `json_schema`."""


_Bool = SkipValidation[bool | None]
_Text = SkipValidation[str | None]
_Count = SkipValidation[Annotated[int, Field(ge=1, le=2**31 - 1)] | None]
_Penalty = SkipValidation[Annotated[float, Field(ge=-2, le=2)] | None]


class ChatCompletionRequest(WireModel):
    """A call of a model. A further parameter of the hosted API is refused by name; an engine
    refuses a value that it does not implement.
    """

    model: SkipValidation[Annotated[str, Field(min_length=1, max_length=256)]]
    """Name of a base model, of a tuned model or of a checkpoint's."""
    messages: SkipValidation[
        Annotated[list[ChatRequestMessage], Field(min_length=1, max_length=MAX_MESSAGES)]
    ]
    """The conversation so far."""
    stream: _Bool = None
    """True sends the answer in chunks, as server-sent events."""
    stream_options: SkipValidation[ChatStreamOptions | None] = None
    """Options of a stream."""
    tools: SkipValidation[Annotated[list[ChatTool], Field(max_length=MAX_TOOLS)] | None] = None
    """Functions that the model may call."""
    tool_choice: SkipValidation[Literal["none", "auto", "required"] | ChatNamedTool | None] = None
    """`none` offers the tools and parses no calls; the CPU engine has only `auto` and `none`."""
    parallel_tool_calls: _Bool = None
    """False: the answer has one call at most."""
    max_completion_tokens: _Count = None
    """Largest number of tokens of an answer; absent: as many as the context leaves."""
    max_tokens: _Count = None
    """The older name of `max_completion_tokens`; only one of them may be sent."""
    temperature: SkipValidation[Annotated[float, Field(ge=0, le=2)] | None] = None
    """Divides the logits before sampling; 0 takes the most probable token. Absent: 1."""
    top_p: SkipValidation[Annotated[float, Field(gt=0, le=1)] | None] = None
    """Samples from the most probable tokens that have this probability together."""
    seed: SkipValidation[Annotated[int, Field(ge=1 - 2**63, le=2**63 - 1)] | None] = None
    """The same seed repeats an answer of the same model and engine."""
    stop: SkipValidation[
        Annotated[str, Field(min_length=1)] | list[Annotated[str, Field(min_length=1)]] | None
    ] = None
    """Texts that end the answer; they are no part of it."""
    n: SkipValidation[Annotated[int, Field(ge=1, le=128)] | None] = None
    """Number of answers; the CPU engine has only 1."""
    logprobs: _Bool = None
    """True adds the log-probs of the sampled tokens."""
    top_logprobs: SkipValidation[Annotated[int, Field(ge=0, le=20)] | None] = None
    """Number of the most probable tokens to return at each position; needs `logprobs`."""
    response_format: SkipValidation[ChatResponseFormat | None] = None
    """Form of the answer; the CPU engine has only text."""
    reasoning_effort: SkipValidation[CalledEffort | None] = None
    """Absent: the effort that the model was trained with."""
    frequency_penalty: _Penalty = None
    """Lowers the logits of tokens by their count so far; the CPU engine has only 0."""
    presence_penalty: _Penalty = None
    """Lowers the logits of tokens that occurred; the CPU engine has only 0."""
    logit_bias: SkipValidation[dict[str, Annotated[float, Field(ge=-100, le=100)]] | None] = None
    """Additions to the logits of token ids; the CPU engine has none."""
    modalities: SkipValidation[list[Literal["text"]] | None] = None
    """Answers are text."""
    metadata: SkipValidation[dict[str, str] | None] = None
    """Pairs that a stored completion keeps, at most 16; without `store` they change nothing."""
    store: _Bool = None
    """True keeps the messages and the whole reply, for `GET /v1/chat/completions` and feedback."""
    user: _Text = None
    """The end user, if there is no `safety_identifier`."""
    safety_identifier: _Text = None
    """Your id of the person who asks. A stored completion keeps it, and `DELETE
    /v1/feedback/end_users/{id}` removes all that belongs to it."""
    service_tier: SkipValidation[Literal["auto", "default", "flex", "scale", "priority"] | None] = (
        None
    )
    """Changes nothing."""
    verbosity: SkipValidation[Literal["low", "medium", "high"] | None] = None
    """Changes nothing."""
    prompt_cache_key: _Text = None
    """Changes nothing."""
    prompt_cache_retention: _Text = None
    """Changes nothing."""
    prompt_cache_options: SkipValidation[dict[str, Any] | None] = None
    """Changes nothing."""
    top_k: SkipValidation[Annotated[int, Field(ge=-1, le=2**31 - 1)] | None] = None
    """Samples from this number of most probable tokens (an extension); the CPU engine has no such
    limit."""
    min_p: SkipValidation[Annotated[float, Field(ge=0, le=1)] | None] = None
    """Smallest probability of a token, as a share of the highest one (an extension); the CPU engine
    has no such limit."""
    min_tokens: SkipValidation[Annotated[int, Field(ge=0, le=2**31 - 1)] | None] = None
    """Smallest number of tokens of an answer (an extension); the CPU engine has no such limit."""
    repetition_penalty: SkipValidation[Annotated[float, Field(gt=0)] | None] = None
    """Divides the logits of tokens that occurred (an extension); the CPU engine has only 1."""
    ignore_eos: _Bool = None
    """True continues after the end-of-turn token (an extension); the CPU engine has only false."""
    skip_special_tokens: _Bool = None
    """False keeps control tokens in the text (an extension); the CPU engine has only true."""
    stop_token_ids: SkipValidation[list[Annotated[int, Field(ge=0, le=2**31 - 1)]] | None] = None
    """Token ids that end the answer (an extension)."""
    return_token_ids: _Bool = None
    """True adds the token ids of prompt and answer (an extension)."""

    def sent(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}
