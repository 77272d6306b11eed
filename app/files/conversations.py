"""The one check of a conversation, of chats and of rows, and how every engine reads it."""

import json
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any, Final

from app.files.shape_faults import (
    SHOWN,
    ShapeFault,
    invalid_type,
    invalid_value,
    missing,
    not_one_of,
    required_text_faults,
    shown,
    text_faults,
    too_long,
    unknown_in,
    unknown_parameter,
    unsupported_parameter,
    unsupported_value,
)
from app.kit.fields import Json, Path, parameter
from app.kit.strict_json import TooManyValues, strict_loads
from app.models.chat import with_names_of_calls

MAX_MESSAGES: Final = 2048
_COPIED: Final = ("role", "name", "tool_call_id")


def check_conversation(messages: list[Any]) -> None:
    """Raises the first fault of a chat's messages. A row may have keys of its own, a chat none."""
    for fault in conversation_faults(messages, ("messages",)):
        raise fault
    for path in unknown_keys(messages, ("messages",)):
        raise unknown_parameter(path)


def conversation_faults(
    messages: Any, path: Path, *, ends_with_calls: bool = False
) -> Iterator[ShapeFault]:
    """Yields faults of a conversation, whose calls are answered one by one in the messages that
    follow. `ends_with_calls` is true where the last message is an answer to learn.
    """
    if not isinstance(messages, list):
        yield invalid_type(path, "an array", messages)
        return
    size = _size_fault(messages, path)
    if size is not None:
        yield size
        return
    calls = _Calls({}, ())
    for position, message in enumerate(messages):
        at = (*path, position)
        own = list(message_faults(message, at))
        yield from own
        if own:  # the calls of what follows are not known
            for rest, other in enumerate(messages[position + 1 :], start=position + 1):
                yield from message_faults(other, (*path, rest))
            return
        if message["role"] == "tool":
            yield from calls.answer(message, at)
        else:
            yield from calls.unanswered()
            calls = _Calls(message, at)
    if not ends_with_calls or messages[-1]["role"] != "assistant":
        yield from calls.unanswered()


def _size_fault(messages: list[Any], path: Path) -> ShapeFault | None:
    if not messages:
        return ShapeFault(
            path,
            "it must have at least one message",
            code="empty_array",
            sentence=f"Invalid '{shown(path)}': empty array. Expected an array with minimum "
            "length 1, but got an empty array instead.",
        )
    return too_long(messages, path, MAX_MESSAGES)


class _Calls:
    def __init__(self, message: Json, path: Path) -> None:
        self._path = path
        self._calls = [call["id"] for call in message.get("tool_calls") or ()]
        broken = message.get(BROKEN_CALL)
        self._ids = {*self._calls, *((broken["tool_call_id"],) if broken is not None else ())}
        self._answered: dict[str, Path] = {}

    def answer(self, message: Json, path: Path) -> Iterator[ShapeFault]:
        answered = message["tool_call_id"]
        if not self._ids:
            reason = (
                "messages with role 'tool' must be a response to a preceding message with "
                "'tool_calls'"
            )
            yield ShapeFault((*path, "role"), reason, sentence=f"Invalid parameter: {reason}.")
        elif answered not in self._ids:
            reason = (
                f"'tool_call_id' of '{answered[:SHOWN]}' not found in 'tool_calls' of previous "
                "message"
            )
            sentence = f"Invalid parameter: {reason}."
            yield ShapeFault((*path, "tool_call_id"), reason, sentence=sentence)
        elif self._answered.setdefault(answered, path) != path:
            first = parameter("", self._answered[answered])
            reason = f"'{first}' answers the call '{answered[:SHOWN]}' already"
            yield invalid_value((*path, "tool_call_id"), reason)

    def unanswered(self) -> Iterator[ShapeFault]:
        missing = [call for call in self._calls if call not in self._answered]
        if missing:
            listed = ", ".join(call[:SHOWN] for call in missing[:SHOWN])
            reason = (
                "an assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. The following tool_call_ids did not have "
                f"response messages: {listed}"
            )
            sentence = f"A{reason[1:]}."
            yield ShapeFault((*self._path, "tool_calls"), reason, sentence=sentence)


INSTRUCTIONS: Final = ("system", "developer")
"""Roles of a message that instructs the model."""


def instructed(messages: list[Json], instructions: str | None) -> list[Json]:
    """Puts instructions before a conversation that has none of its own."""
    if instructions is None or any(message["role"] in INSTRUCTIONS for message in messages):
        return messages
    return [{"role": "system", "content": instructions}, *messages]


def engine_messages(messages: list[Json]) -> list[Json]:
    return with_names_of_calls(list(map(_engine_message, messages)))


def _engine_message(message: Json) -> Json:
    written = {name: message[name] for name in _COPIED if message.get(name) is not None}
    content = message.get("content")
    if isinstance(content, list):
        # vLLM would write a line break between two parts, and training writes nothing.
        content = "".join(part[part["type"]] for part in content)
    written["content"] = content or message.get("refusal") or content
    written |= reasoning_of_message(message)
    if message.get("tool_calls"):
        written["tool_calls"] = [_engine_call(call) for call in message["tool_calls"]]
    return written


def reasoning_of_message(message: Json) -> Json:
    """Returns the reasoning under both of its names, of which a chat template reads one."""
    given = next((message[name] for name in REASONING if message.get(name) is not None), None)
    return {} if given is None else dict.fromkeys(REASONING, given)


def _engine_call(call: Json) -> Json:
    function = {name: call["function"][name] for name in ("name", "arguments")}
    return {"id": call["id"], "type": "function", "function": function}


BROKEN_CALL: Final = "tool_call_error"
"""Field of an assistant message whose tool call could not be parsed (`docs/tool-loop.md`)."""


def broken_call(message: str, *, tool_call_id: str) -> Json:
    return {"type": "unparsable_tool_call", "message": message, "tool_call_id": tool_call_id}


REASONING: Final = ("reasoning", "reasoning_content")
"""Names of an assistant message's reasoning; engines and chat templates differ in them."""
_ROLES: Final = ("system", "assistant", "user", "tool", "developer")
_PARTS: Final = {"assistant": ("text", "refusal")}
_EVERY_ROLE: Final = ("role", "content", "name")
_KEYS: Final = MappingProxyType(
    {
        "assistant": (
            *_EVERY_ROLE, "refusal", "tool_calls", "annotations", "parsed", BROKEN_CALL, *REASONING,
        ),
        "tool": (*_EVERY_ROLE, "tool_call_id"),
    }
)  # fmt: skip
"""Known keys of a message by role. Clients send back those of replies, such as `annotations`,
`parsed`, `index` and `parsed_arguments`."""
_CALL_KEYS: Final = ("id", "type", "function", "index")
_FUNCTION_KEYS: Final = ("name", "arguments", "parsed_arguments")
_REPLACES_CONTENT: Final = ("tool_calls", "refusal", *REASONING)
"""Fields that an assistant message may have instead of content; a turn may end in reasoning."""


def unknown_keys(messages: Sequence[Json], path: Path) -> Iterator[Path]:
    """Yields the places of keys that no engine reads, in messages without a fault."""
    for position, message in enumerate(messages):
        at = (*path, position)
        yield from unknown_in(message, _KEYS.get(message["role"], _EVERY_ROLE), at)
        content = message.get("content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            yield from unknown_in(part, ("type", part["type"]), (*at, "content", number))
        for number, call in enumerate(message.get("tool_calls") or ()):
            inner = (*at, "tool_calls", number)
            yield from unknown_in(call, _CALL_KEYS, inner)
            yield from unknown_in(call["function"], _FUNCTION_KEYS, (*inner, "function"))


def message_faults(
    message: Any, path: Path, *, any_arguments: bool = False
) -> Iterator[ShapeFault]:
    """Yields faults of one message. `any_arguments` lets calls have arguments that no parser
    reads, as a rejected answer may.
    """
    if not isinstance(message, dict):
        yield invalid_type(path, "an object", message)
        return
    role = message.get("role")
    wrong_role = _role_fault(role, (*path, "role"))
    if wrong_role is not None:
        yield wrong_role
        return
    if message.get("function_call") is not None:
        yield unsupported_parameter((*path, "function_call"), "Use 'tool_calls' instead.")
    if message.get("audio") is not None:
        yield unsupported_parameter((*path, "audio"), "Messages are text.")
    if role != "assistant" and message.get("tool_calls") is not None:
        reason = "only messages with role 'assistant' have tool calls"
        yield invalid_value((*path, "tool_calls"), reason)
        return
    texts = ("name", "refusal", *REASONING) if role == "assistant" else ("name",)
    yield from text_faults(message, texts, path)
    if role == "tool":
        yield from required_text_faults(message, ("tool_call_id",), path)
    if message.get("tool_calls") is not None:
        calls = message["tool_calls"]
        yield from _calls_faults(calls, (*path, "tool_calls"), any_arguments=any_arguments)
    yield from _content_faults(message, path)
    if role == "assistant":
        yield from _assistant_faults(message, path)


def _role_fault(role: Any, path: Path) -> ShapeFault | None:
    if role is None:
        return missing(path)
    if role == "function":
        return unsupported_value(path, role, ("tool",))
    return None if role in _ROLES else not_one_of(path, role, _ROLES)


def _content_faults(message: Json, path: Path) -> Iterator[ShapeFault]:
    content, role, at = message.get("content"), message["role"], (*path, "content")
    if content is None and role == "assistant" and any(map(message.get, _REPLACES_CONTENT)):
        return
    if "content" not in message:
        yield missing(at)
    elif isinstance(content, list):
        kinds = _PARTS.get(role, ("text",))
        for position, part in enumerate(content):
            yield from _part_faults(part, at, position, kinds)
    elif not isinstance(content, str):
        yield invalid_type(at, "a string or an array of text parts", content)


def _part_faults(
    part: Any, path: Path, position: int, kinds: tuple[str, ...]
) -> Iterator[ShapeFault]:
    if not isinstance(part, dict):
        yield invalid_type((*path, position), "an object", part)
        return
    kind = part.get("type")
    if kind not in kinds:  # an engine would fetch an image by its address
        yield unsupported_value(path, kind, kinds)
    elif not isinstance(part.get(kind), str):
        yield invalid_type((*path, position, kind), "a string", part.get(kind))


def _assistant_faults(message: Json, path: Path) -> Iterator[ShapeFault]:
    if message.get("refusal") and message.get("content"):
        reason = "a message has content or a refusal, not both; send one of them"
        yield invalid_value((*path, "refusal"), reason)
    first, second = (message.get(name) for name in REASONING)
    if first is not None and second is not None and first != second:
        reason = f"it differs from '{REASONING[0]}', its other name; send one of them"
        yield invalid_value((*path, REASONING[1]), reason)
    broken, at = message.get(BROKEN_CALL), (*path, BROKEN_CALL)
    if isinstance(broken, dict):
        yield from required_text_faults(broken, ("type", "message", "tool_call_id"), at)
    elif broken is not None:
        yield invalid_type(at, "an object", broken)


def _calls_faults(calls: Any, path: Path, *, any_arguments: bool) -> Iterator[ShapeFault]:
    if not isinstance(calls, list):
        yield invalid_type(path, "an array", calls)
        return
    seen = set[str]()
    for position, call in enumerate(calls):
        own = list(_call_faults(call, (*path, position), any_arguments=any_arguments))
        yield from own
        if own:
            continue
        if call["id"] in seen:
            reason = f"the id '{call['id'][:SHOWN]}' is that of an earlier call of the message"
            yield invalid_value((*path, position, "id"), reason)
        seen.add(call["id"])


def _call_faults(call: Any, path: Path, *, any_arguments: bool) -> Iterator[ShapeFault]:
    if not isinstance(call, dict):
        yield invalid_type(path, "an object", call)
        return
    if (call.get("type") or "function") != "function":
        yield unsupported_value((*path, "type"), call["type"], ("function",))
    yield from required_text_faults(call, ("id",), path)
    function, inner = call.get("function"), (*path, "function")
    if function is None:
        yield missing(inner)
        return
    if not isinstance(function, dict):
        yield invalid_type(inner, "an object", function)
        return
    own = list(required_text_faults(function, ("name", "arguments"), inner))
    yield from own
    if not own and not any_arguments:
        yield from _arguments_faults(function["arguments"], (*inner, "arguments"))


def _arguments_faults(text: str, path: Path) -> Iterator[ShapeFault]:
    """Checks arguments, which a chat template renders as an object, never as text."""
    try:
        arguments = strict_loads(text)
    except RecursionError:
        yield invalid_value(path, "it is nested too deeply")
    except json.JSONDecodeError as error:
        reason = f"it is not valid JSON ({error.msg} at character {error.pos})"
        yield invalid_value(path, reason)
    except TooManyValues as error:
        yield invalid_value(path, str(error))
    except ValueError:
        yield invalid_value(path, "it holds a number that is out of range")
    else:
        if not isinstance(arguments, dict):
            yield invalid_value(path, "it is not a JSON object as text, such as '{}'")
