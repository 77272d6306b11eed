"""Joins the chunks of a stream into the whole reply that they are the parts of. Pure.

Source: the hosted API's `chat.completion.chunk`; texts are appended, the rest is set.
"""

from typing import Any, Final

from app.domain.documents.json_object import Json

_APPENDED: Final = frozenset({"content", "reasoning", "refusal"})
_REPLY: Final = "chat.completion"


class StreamedReply:
    """The reply so far."""

    def __init__(self) -> None:
        self._head: Json = {}
        self._choices: dict[int, Json] = {}

    def add(self, chunk: Json) -> None:
        """Adds one chunk, the one with the usage included."""
        own = {name: value for name, value in chunk.items() if name not in {"choices", "object"}}
        self._head |= {name: value for name, value in own.items() if value is not None}
        for part in chunk.get("choices") or ():
            self._add_choice(part)

    def whole(self) -> Json:
        """Returns the reply as it would have come without a stream."""
        choices = [self._choices[index] for index in sorted(self._choices)]
        return {**self._head, "object": _REPLY, "choices": choices}

    def _add_choice(self, part: Json) -> None:
        index = part.get("index", 0)
        empty = {
            "index": index,
            "message": {"role": "assistant", "content": None},
            "logprobs": None,
            "finish_reason": None,
        }
        choice = self._choices.setdefault(index, empty)
        _add_delta(choice["message"], part.get("delta") or {})
        if part.get("finish_reason") is not None:
            choice["finish_reason"] = part["finish_reason"]
        for name, tokens in (part.get("logprobs") or {}).items():
            if tokens:
                logprobs = choice["logprobs"] or {"content": None, "refusal": None}
                choice["logprobs"] = {**logprobs, name: [*(logprobs.get(name) or ()), *tokens]}


def _add_delta(message: Json, delta: Json) -> None:
    for name, value in delta.items():
        if value is None:
            continue
        if name in _APPENDED:
            message[name] = (message.get(name) or "") + value
        elif name == "tool_calls":
            for piece in value:
                _add_call(message.setdefault("tool_calls", []), piece)
        else:
            message[name] = value


def _add_call(calls: list[Json], piece: Json) -> None:
    """Adds a piece of a call; the pieces of one call have its number, and calls come in order."""
    index = piece.get("index", 0)
    while len(calls) <= index:
        calls.append({"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
    call = calls[index]
    call |= {name: piece[name] for name in ("id", "type") if piece.get(name) is not None}
    function: dict[str, Any] = piece.get("function") or {}
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""
