"""Checks an answer that jobs will learn from feedback: a correction, or the better of two texts.
Pure. A rejected answer may be wrong in any way.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, assert_never

from app.files.conversations import conversation_faults, message_faults, unknown_keys
from app.files.function_tools import tools_faults
from app.files.shape_faults import unknown_parameter
from app.kit.errors import InvalidRequest, missing_parameter, refused_value
from app.kit.fields import Json
from app.models.chat import text_of


def check_offered(param: str, message: Json, tools: Sequence[Json]) -> None:
    offered = [tool.get("function", {}).get("name") for tool in tools]
    for position, call in enumerate(message.get("tool_calls") or ()):
        if call["function"]["name"] not in offered:
            shown = ", ".join(f"'{name}'" for name in offered[:20]) or "none"
            raise refused_value(
                f"{param}.tool_calls[{position}].function.name",
                f"the prompt does not offer this function; it offers {shown}",
            )


def _text(message: Json) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)


def person_digest(project_id: str, person: str) -> str:
    """Returns what a build keeps of a person whose rows a deleted file had."""
    return hashlib.sha256(f"{project_id}\0{person}".encode()).hexdigest()


FeedbackType = Literal["thumbs", "correction", "preference"]
Rating = Literal["up", "down"]
LONGEST_NAME: Final = 256
LONGEST_COMMENT: Final = 8192
_TARGETS: Final = ("completion_id", "rollout_id")
_COMPLETIONS: Final = ("chosen_completion_id", "rejected_completion_id")
_TEXTS: Final = ("messages", "chosen", "rejected")


@dataclass(frozen=True, slots=True)
class Feedback:
    id: str
    type: FeedbackType
    author: str | None
    """The caller's id of the person who judged."""
    end_user: str | None
    """The caller's id of the person whose texts these are."""
    comment: str | None
    created_at: int = 0
    completion_id: str | None = None
    rejected_completion_id: str | None = None
    rollout_id: str | None = None
    rating: Rating | None = None
    messages: list[Json] | None = None
    tools: list[Json] | None = None
    better: Json | None = None
    worse: Json | None = None


@dataclass(frozen=True, slots=True)
class FeedbackFilter:
    type: FeedbackType | None = None
    author: str | None = None
    end_user: str | None = None
    completion_id: str | None = None
    rollout_id: str | None = None
    created_after: int | None = None


@dataclass(frozen=True, slots=True)
class SentFeedback:
    """A call that gives feedback; every field that was not sent is `None`."""

    type: FeedbackType
    values: dict[str, Any] = field(default_factory=dict)
    comment: str | None = None
    author: str | None = None
    end_user: str | None = None

    def get(self, name: str) -> Any:
        return self.values.get(name)


def check_sent(sent: SentFeedback) -> None:
    """Raises `InvalidRequest` for fields that are missing or another type's, and bad messages."""
    match sent.type:
        case "thumbs":
            _one_of(sent, _TARGETS)
            _required(sent, "rating")
            _only(sent, {*_TARGETS, "rating"})
        case "correction":
            _one_of(sent, _TARGETS)
            _required(sent, "correction")
            _only(sent, {*_TARGETS, "correction"})
        case "preference":
            names = _COMPLETIONS if sent.get("chosen") is None else _TEXTS
            _required(sent, *names)
            _only(sent, {*names, "tools"} if names is _TEXTS else {*names})
        case _:
            assert_never(sent.type)
    for fault in _faults(sent):
        raise fault
    for name in ("correction", "chosen"):
        if sent.get(name) is not None:
            message = message_of(sent.get(name))
            for _, _, *path in unknown_keys([message], (name,)):
                raise unknown_parameter((name, *path))
            if not message.get("tool_calls") and not _text(message).strip():
                raise refused_value(name, "its text is blank: a job would learn an empty answer")
    if sent.get("chosen") is not None:
        check_offered("chosen", message_of(sent.get("chosen")), sent.get("tools") or [])


def message_of(sent: str | Json) -> Json:
    return {"role": "assistant", "content": sent} if isinstance(sent, str) else sent


def _required(sent: SentFeedback, *names: str) -> None:
    for name in names:
        if sent.get(name) is None:
            raise missing_parameter(name)


def _one_of(sent: SentFeedback, names: tuple[str, ...]) -> None:
    given = [name for name in names if sent.get(name) is not None]
    if not given:
        raise missing_parameter(names[0])
    if len(given) > 1:
        raise refused_value(given[1], f"it excludes '{given[0]}': send one of them")


def _only(sent: SentFeedback, known: set[str]) -> None:
    for name, value in sent.values.items():
        if value is not None and name not in known:
            between = (
                " between two completions"
                if sent.type == "preference" and name in {*_TEXTS, "tools"}
                else ""
            )
            raise InvalidRequest(
                f"Feedback of type '{sent.type}'{between} has no '{name}'.",
                param=name,
                code="invalid_parameter_combination",
            )


def _faults(sent: SentFeedback) -> Iterator[InvalidRequest]:
    for name in ("correction", "chosen", "rejected"):
        value = sent.get(name)
        if value is not None:
            yield from _answer_faults(name, message_of(value))
    if sent.get("messages") is not None:
        yield from conversation_faults(sent.get("messages"), ("messages",))
    if sent.get("tools") is not None:
        yield from tools_faults(sent.get("tools"), ("tools",))
    if sent.get("chosen") is not None:
        pair = message_of(sent.get("chosen")), message_of(sent.get("rejected"))
        if pair[0] == pair[1]:
            reason = "it is the same as 'chosen': there is nothing to prefer"
            yield refused_value("rejected", reason)


def _answer_faults(name: str, message: Json) -> Iterator[InvalidRequest]:
    yield from message_faults(message, (name,), any_arguments=name == "rejected")
    if message.get("role") != "assistant":
        yield refused_value(name, "it must be a message of the role 'assistant'")
    if not message.get("content") and not message.get("tool_calls"):
        yield refused_value(name, "it must have content or tool calls")


@dataclass(frozen=True, slots=True)
class JudgedPrompt:
    messages: list[Json]
    tools: list[Json]

    @property
    def key(self) -> str:
        return digest([self.messages, self.tools])

    @property
    def text(self) -> str:
        return "\n".join(text_of(message.get("content")) for message in self.messages)


@dataclass(frozen=True, slots=True)
class Judgement:
    id: str
    type: FeedbackType
    author: str | None
    end_users: tuple[str, ...]
    """The people whose texts these are."""
    created_at: int
    prompt: JudgedPrompt
    rating: Rating | None
    """The judgement of `answer`; `None` if these are no thumbs."""
    answer: Json
    better: Json | None
    """The answer that should have been, or that was preferred."""

    @property
    def target(self) -> str:
        answers = sorted([self.answer_key, self.better_key] if self.is_preference else [])
        return digest([self.prompt.key, *(answers or [self.answer_key])])

    @property
    def people(self) -> set[str]:
        return {*self.end_users, *([] if self.author is None else [self.author])}

    @property
    def is_preference(self) -> bool:
        return self.type == "preference"

    @property
    def answer_key(self) -> str:
        return digest(self.answer)

    @property
    def better_key(self) -> str:
        return digest(self.better)


def answer_of(message: Json) -> Json:
    kept: Json = {"role": "assistant", "content": message.get("content")}
    if message.get("tool_calls"):
        kept["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    return kept


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _call(call: Json) -> Json:
    function = call.get("function") or {}
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": function.get("name"), "arguments": function.get("arguments")},
    }
