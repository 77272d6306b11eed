"""Marks chat replies in which the model wrote a tool call that cannot be parsed.

Owns the field `tool_call_error` of an assistant message, an extension of the hosted shape. Engines
return such a call as plain content; training answers it with a sentence and continues. The field
contains that sentence, so that a client can play the episode that was trained
(`docs/tool-loop.md`). Promises that no other part of a reply changes. Must not know engines or
models.
"""

import json
from collections import defaultdict
from typing import Any, Final
from uuid import uuid4

from app.domain.chat.messages import BROKEN_CALL
from app.domain.documents.json_object import Json
from app.domain.models.tool_parsers import ToolParser
from app.rendering.turn_parser import call_fault

_TYPE: Final = "unparsable_tool_call"
_DATA: Final = b"data: "


def offers_tools(body: Json) -> bool:
    """Returns whether the answer to this body may contain tool calls."""
    return bool(body.get("tools")) and body.get("tool_choice") != "none"


def mark_reply(reply: Json, parser: ToolParser) -> None:
    """Marks each message of a whole reply to a body that offers tools. `parser` is the model's."""
    for choice in reply.get("choices") or ():
        message = choice.get("message") or {}
        called = bool(message.get("tool_calls"))
        mark = _mark(parser, message.get("content"), called, choice.get("finish_reason"))
        if mark is not None:
            message[BROKEN_CALL] = mark


class StreamMarker:
    """Marks the last delta of each choice of a stream, event by event."""

    def __init__(self, parser: ToolParser) -> None:
        self._parser = parser
        self._content: dict[int, str] = defaultdict(str)
        self._called: set[int] = set()

    def feed(self, event: bytes) -> bytes:
        """Returns the event, marked if it ends a choice with a broken call."""
        chunk = _chunk_of(event)
        marked = [self._feed_choice(choice) for choice in chunk.get("choices") or ()]
        return _DATA + json.dumps(chunk).encode() if any(marked) else event

    def _feed_choice(self, choice: Json) -> bool:
        index, delta = choice.get("index", 0), choice.get("delta") or {}
        self._content[index] += delta.get("content") or ""
        if delta.get("tool_calls"):
            self._called.add(index)
        called = index in self._called
        mark = _mark(self._parser, self._content[index], called, choice.get("finish_reason"))
        if mark is not None:
            choice["delta"] = {**delta, BROKEN_CALL: mark}
        return mark is not None


def _mark(parser: ToolParser, content: Any, called: bool, finish_reason: str | None) -> Json | None:
    """Returns the mark of a broken call; `None` for a turn that needs none: calls, an answer, a cut
    text.
    """
    if called or finish_reason != "stop" or not isinstance(content, str):
        return None
    fault = call_fault(content, parser)
    if fault is None:
        return None
    return {"type": _TYPE, "message": fault, "tool_call_id": f"call_{uuid4().hex[:24]}"}


def _chunk_of(event: bytes) -> Json:
    """Returns the chunk of an event, empty for `[DONE]` and for comments."""
    if not event.startswith(_DATA):
        return {}
    try:
        chunk = json.loads(event.removeprefix(_DATA))
    except ValueError:
        return {}
    return chunk if isinstance(chunk, dict) else {}
