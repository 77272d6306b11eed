"""Messages of a chat request, for the specification (`app.domain.chat` checks them)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from app.domain.documents.described import DescribedModel


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
