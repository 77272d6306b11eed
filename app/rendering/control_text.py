"""Breaks up control text in messages and tools, so that no text can forge a turn, a reply or a
thought.

Owns the choice of such text: every special token, and every other added token that the chat
template or a parser uses as a mark (`<tool_response>`, `<think>`). Text of an assistant keeps the
marks, because its reasoning and calls are written with them. So does a system message, whose author
owns the conversation. Tools keep none: a third party's server may have written them. A broken
control text has a zero-width space inside and stays text.
"""

from collections.abc import Mapping
from typing import Any, Final

from tokenizers import AddedToken

from app.domain.errors import InvalidRequest
from app.rendering.chat_template import Message, flat_content

_ZERO_WIDTH_SPACE: Final = "\u200b"
_ASSISTANT_MARKS: Final = frozenset(
    ("<think>", "</think>", "[THINK]", "[/THINK]", "<tool_call>", "</tool_call>")
)
_MARK_WRITERS: Final = ("assistant", "system", "developer")
_FIELDS: Final = ("name", "tool_call_id", "reasoning_content", "reasoning", "thinking")


class ControlText:
    def __init__(
        self, added: Mapping[int, AddedToken], *, template: str, marks: frozenset[str]
    ) -> None:
        """`added` are the tokenizer's added tokens, `marks` those of the model's parsers."""
        tokens = [added[number] for number in sorted(added)]
        special = [token.content for token in tokens if token.special]
        used = [
            token.content
            for token in tokens
            if _is_mark(token.content) and (token.content in marks or token.content in template)
        ]
        self._in_turns = tuple(text for text in special if text not in _ASSISTANT_MARKS)
        self._everywhere = tuple(dict.fromkeys((*special, *used)))

    def broken(self, message: Any) -> Message:
        """Returns a copy of a message whose text cannot be read as control text. Raises
        `InvalidRequest` for an invalid message.
        """
        if not isinstance(message, dict):
            raise InvalidRequest("Each message must be an object.", param="messages")
        return self.within({**message, "content": flat_content(message.get("content"))})

    def within(self, message: Message) -> Message:
        """Returns the same copy for an engine that renders the message itself: absent keys stay
        absent. Parts are joined, because a forged mark may be spread over two.
        """
        writes_marks = message.get("role") in _MARK_WRITERS
        controls = self._in_turns if writes_marks else self._everywhere
        copy = dict(message)
        if isinstance(copy.get("content"), list):
            copy["content"] = flat_content(copy["content"])
        for field in ("content", *_FIELDS):
            if copy.get(field):
                copy[field] = _broken_values(copy[field], controls)
        if copy.get("tool_calls"):
            copy["tool_calls"] = _broken_values(copy["tool_calls"], self._in_turns)
        return copy

    def tools(self, tools: list[Message] | None) -> list[Message] | None:
        """Returns a copy of tools whose text cannot be read as control text. Raises
        `InvalidRequest` for tools that are nested too deeply.
        """
        return tools and _broken_values(tools, self._everywhere, param="tools")


def _is_mark(text: str) -> bool:
    """Returns false for added tokens that are ordinary text, such as words or runs of spaces."""
    return bool(text.strip()) and not text.strip()[0].isalnum()


def _broken(text: str, controls: tuple[str, ...]) -> str:
    for control in controls:
        if control in text:
            text = text.replace(control, control[:1] + _ZERO_WIDTH_SPACE + control[1:])
    return text


def _broken_values(value: Any, controls: tuple[str, ...], *, param: str = "messages") -> Any:
    try:
        return _broken_within(value, controls)
    except RecursionError:
        raise InvalidRequest(f"The {param} are nested too deeply.", param=param) from None


def _broken_within(value: Any, controls: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return _broken(value, controls)
    if isinstance(value, list):
        return [_broken_within(item, controls) for item in value]
    if isinstance(value, dict):
        return {
            _broken(key, controls) if isinstance(key, str) else key: _broken_within(item, controls)
            for key, item in value.items()
        }
    return value
