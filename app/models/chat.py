"""Parts of chats: token counts, streamed replies, stored completions, and the context's size."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Json
from app.kit.ids import new_id

MOST_TOKENS: Final = 10**9


def reported_tokens(usage: Any, name: str) -> int:
    """Returns a count of a reply's `usage`; 0 if missing or untrue, which would spoil sums."""
    value = usage.get(name) if isinstance(usage, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value <= MOST_TOKENS else 0


_APPENDED: Final = frozenset({"content", "reasoning", "refusal"})
_REPLY: Final = "chat.completion"


class StreamedReply:
    def __init__(self) -> None:
        self._head: Json = {}
        self._choices: dict[int, Json] = {}

    def add(self, chunk: Json) -> None:
        own = {name: value for name, value in chunk.items() if name not in {"choices", "object"}}
        self._head |= {name: value for name, value in own.items() if value is not None}
        for part in chunk.get("choices") or ():
            self._add_choice(part)

    def whole(self) -> Json:
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


MOST_PAIRS: Final = 16
LONGEST_KEY: Final = 64
LONGEST_VALUE: Final = 512
LONGEST_END_USER: Final = 256


@dataclass(frozen=True, slots=True)
class StoredCompletion:
    id: str
    model: str
    end_user: str | None
    """The caller's id of the person who asked: `safety_identifier`, else `user`."""
    metadata: dict[str, str] | None
    messages: list[Json]
    tools: list[Json]
    reply: Json


def new_completion_id() -> str:
    """Returns the id of a completion that is stored; an engine may repeat its own."""
    return new_id("chatcmpl-")


def asks_to_store(body: Mapping[str, Any]) -> bool:
    return body.get("store") is True


def check_stored(body: Mapping[str, Any]) -> None:
    check_pairs(body.get("metadata") or {})
    for name in ("safety_identifier", "user"):
        if len(body.get(name) or "") > LONGEST_END_USER:
            raise refused_value(name, f"it must have at most {LONGEST_END_USER} characters")


def check_pairs(metadata: Mapping[str, str]) -> None:
    if len(metadata) > MOST_PAIRS:
        raise refused_value("metadata", f"it must have at most {MOST_PAIRS} pairs")
    for key, value in metadata.items():
        if len(key) > LONGEST_KEY:
            raise refused_value("metadata", f"a key must have at most {LONGEST_KEY} characters")
        if len(value) > LONGEST_VALUE:
            name = f"metadata.{key}"
            raise refused_value(name, f"it must have at most {LONGEST_VALUE} characters")


def completion_of(body: Mapping[str, Any], reply: Json) -> StoredCompletion:
    return StoredCompletion(
        id=reply["id"],
        model=reply["model"],
        end_user=body.get("safety_identifier") or body.get("user"),
        metadata=body.get("metadata") or None,
        messages=body["messages"],
        tools=body.get("tools") or [],
        reply=reply,
    )


def with_names_of_calls(messages: list[Json]) -> list[Json]:
    """Returns the messages with the function's name in each reply of a tool: some chat templates
    write it, and clients leave it out. Messages that are not of the protocol stay as they are.
    """
    names: dict[str, Any] = {}
    named = []
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("function"), dict):
                names[str(call.get("id"))] = call["function"].get("name")
        name = message.get("name") or names.get(str(message.get("tool_call_id")))
        is_reply = message.get("role") == "tool" and name is not None
        named.append({**message, "name": name} if is_reply else message)
    return named


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text") or part.get("refusal") or "" for part in content)
    return content if isinstance(content, str) else ""


CONTEXT_LENGTH_EXCEEDED: Final = "context_length_exceeded"
CHARACTERS_PER_TOKEN: Final = 32
"""More cannot fit into the context; ordinary text has 3 to 5."""

NO_ROOM_CURE: Final = (
    "Shorten the rows' messages and tools, or use a base model with a longer context"
)


def fills_context(prompt_tokens: int, context_length: int) -> bool:
    return prompt_tokens >= context_length


def full_context(context_length: int, longest: int) -> str:
    return f"fill the model's context of {context_length} tokens (the longest has {longest})"


def most_characters(tokens: int) -> int:
    return max(0, tokens) * CHARACTERS_PER_TOKEN


def check_characters(characters: int, context_length: int) -> None:
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
    if fills_context(tokens, context_length):
        raise InvalidRequest(
            f"This model's maximum context length is {context_length} tokens. However, your "
            f"messages resulted in {tokens} tokens, which leaves none for an answer. Please reduce "
            "the length of the messages.",
            param="messages",
            code=CONTEXT_LENGTH_EXCEEDED,
        )


def check_messages(messages: Iterable[Any], context_length: int) -> None:
    check_characters(sum(map(len, _texts(messages))), context_length)


def _texts(messages: Iterable[Any]) -> Iterator[str]:
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
