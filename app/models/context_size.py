"""Refuses prompts that do not fit into the context: by characters before they are encoded, then by
tokens.

Encoding processes about 2 MB a second, so a prompt with too many characters to fit is refused
without encoding.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.kit.errors import InvalidRequest

CONTEXT_LENGTH_EXCEEDED: Final = "context_length_exceeded"
"""The hosted code of a prompt that does not fit."""
CHARACTERS_PER_TOKEN: Final = 32
"""Characters per token above which a prompt cannot fit into the context; ordinary text has 3 to 5.
"""

NO_ROOM_CURE: Final = (
    "Shorten the rows' messages and tools, or use a base model with a longer context"
)


def fills_context(prompt_tokens: int, context_length: int) -> bool:
    """Returns whether a prompt leaves no token for an answer."""
    return prompt_tokens >= context_length


def full_context(context_length: int, longest: int) -> str:
    """Returns the clause about prompts that fill the context; `longest` has the most tokens."""
    return f"fill the model's context of {context_length} tokens (the longest has {longest})"


def most_characters(tokens: int) -> int:
    """Returns the number of characters above which a text is assumed to need more than `tokens`."""
    return max(0, tokens) * CHARACTERS_PER_TOKEN


def check_characters(characters: int, context_length: int) -> None:
    """Raises `InvalidRequest` for a prompt with too many characters to fit."""
    limit = most_characters(context_length)
    if characters > limit:
        raise InvalidRequest(
            f"This model's maximum context length is {context_length} tokens. However, your "
            f"messages have {characters} characters, more than the {limit} that can fit. Please "
            "reduce the length of the messages.",
            param="messages",
            code=CONTEXT_LENGTH_EXCEEDED,
        )


def check_tokens(tokens: int, context_length: int) -> None:
    """Raises `InvalidRequest` for messages that leave no token for an answer."""
    if fills_context(tokens, context_length):
        raise InvalidRequest(
            f"This model's maximum context length is {context_length} tokens. However, your "
            f"messages resulted in {tokens} tokens, which leaves none for an answer. Please reduce "
            "the length of the messages.",
            param="messages",
            code=CONTEXT_LENGTH_EXCEEDED,
        )


def check_messages(messages: Iterable[Any], context_length: int) -> None:
    """Raises `InvalidRequest` for messages whose text alone cannot fit. Messages of an unknown
    shape are not counted.
    """
    check_characters(sum(map(len, _texts(messages))), context_length)


def _texts(messages: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of messages: content, parts of content, and arguments of tool calls."""
    for message in messages:
        if not isinstance(message, dict):
            continue
        content, calls = message.get("content"), message.get("tool_calls")
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else ():
            yield _text(part, "text")
        for call in calls if isinstance(calls, list) else ():
            yield _text(call.get("function") if isinstance(call, dict) else None, "arguments")


def _text(value: Any, key: str) -> str:
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""
