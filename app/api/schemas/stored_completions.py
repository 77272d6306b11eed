"""Stored chat completions on the wire. Source: the hosted API's `ChatCompletionList`,
`ChatCompletionMessageList` and `ChatCompletionDeleted`.
"""

from typing import Any, Literal

from pydantic import Field

from app.api.schemas.chat_replies import ChatCompletion
from app.api.schemas.common import ClosedBody, Metadata
from app.domain.chat.stored_completions import StoredCompletion
from app.domain.documents.field_descriptions import DescribedModel
from app.domain.documents.json_object import Json
from app.domain.feedback.judgements import text_of


class StoredChatCompletion(ChatCompletion):
    """A completion that was stored, as it was answered, with what the caller noted about it."""

    metadata: dict[str, str] | None
    input_user: str | None
    """The end user: `safety_identifier` of the call, else its `user`."""
    tools: list[Json] | None
    """Tools that the call offered; `null` without."""


class UpdateChatCompletion(ClosedBody):
    """New metadata of a stored completion, in place of all earlier pairs."""

    metadata: Metadata | None
    """`null` removes all pairs."""


class ChatCompletionDeleted(DescribedModel):
    """The confirmation that a stored completion is deleted, with the feedback about it."""

    id: str
    object: Literal["chat.completion.deleted"] = "chat.completion.deleted"
    deleted: Literal[True] = True


class StoredChatMessage(DescribedModel):
    """A message of the conversation that a stored completion continued."""

    id: str
    """Id of the completion with the number of the message, from 0."""
    role: str
    """Role of the speaker."""
    content: str | None
    """The text; that of all parts if it was sent in parts."""
    content_parts: list[Json] | None
    """The parts of the text, if it was sent in parts."""
    name: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Name of the speaker, if one was sent."""
    tool_calls: list[Json] | None = Field(default=None, exclude_if=lambda value: value is None)
    """Calls of an earlier answer, if it had any."""
    tool_call_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Id of the call that a `tool` message answers."""

    @classmethod
    def all_of(cls, stored: StoredCompletion) -> "list[StoredChatMessage]":
        return [
            cls(
                id=f"{stored.id}-{position}",
                role=message["role"],
                content=None if message.get("content") is None else text_of(message["content"]),
                content_parts=parts if isinstance(parts := message.get("content"), list) else None,
                name=message.get("name"),
                tool_calls=message.get("tool_calls"),
                tool_call_id=message.get("tool_call_id"),
            )
            for position, message in enumerate(stored.messages)
        ]


def shown_completion(stored: StoredCompletion) -> dict[str, Any]:
    """Returns the reply as it was answered, with the fields that only a stored one has."""
    return {
        **stored.reply,
        "metadata": stored.metadata,
        "input_user": stored.end_user,
        "tools": stored.tools or None,
    }
