"""Feedback about an answer: its three forms, and the check of a call that gives it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, assert_never

from app.domain.data.chat_rows import message_faults, messages_faults, tools_faults
from app.domain.documents.json_object import Json
from app.domain.documents.pointers import parameter
from app.domain.errors import InvalidRequest, missing_parameter, refused_value
from app.domain.feedback.answers import check_better, check_offered

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
    """The completion that was rated, corrected or preferred."""
    rejected_completion_id: str | None = None
    rollout_id: str | None = None
    rating: Rating | None = None
    messages: list[Json] | None = None
    """The prompt of a preference between two texts."""
    tools: list[Json] | None = None
    better: Json | None = None
    """The message of a correction, or of the preferred text."""
    worse: Json | None = None
    """The message of the rejected text."""


@dataclass(frozen=True, slots=True)
class FeedbackFilter:
    """Conditions on feedback; `None` sets no condition."""

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
    """The fields that depend on the type."""
    comment: str | None = None
    author: str | None = None
    end_user: str | None = None

    def get(self, name: str) -> Any:
        return self.values.get(name)


def check_sent(sent: SentFeedback) -> None:
    """Raises `InvalidRequest` for fields that are missing, that another type has, or whose messages
    no file of a job may have.
    """
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
    for param, reason in _faults(sent):
        raise refused_value(param, reason)
    for name in ("correction", "chosen"):
        if sent.get(name) is not None:
            check_better(name, message_of(sent.get(name)))
    if sent.get("chosen") is not None:
        check_offered("chosen", message_of(sent.get("chosen")), sent.get("tools") or [])


def message_of(sent: str | Json) -> Json:
    """Returns the assistant message of a text, or a message as it was sent."""
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


def _faults(sent: SentFeedback) -> Iterator[tuple[str, str]]:
    """Yields parameter and clause of each fault of the messages."""
    for name in ("correction", "chosen", "rejected"):
        value = sent.get(name)
        if value is not None:
            yield from _answer_faults(name, message_of(value))
    if sent.get("messages") is not None:
        yield from _named("messages", messages_faults(sent.get("messages"), ""))
    if sent.get("tools") is not None:
        yield from _named("tools", tools_faults(sent.get("tools"), "", callable_names=None))
    if sent.get("chosen") is not None:
        pair = message_of(sent.get("chosen")), message_of(sent.get("rejected"))
        if pair[0] == pair[1]:
            yield "rejected", "it is the same as 'chosen': there is nothing to prefer"


def _answer_faults(name: str, message: Json) -> Iterator[tuple[str, str]]:
    yield from _named(name, message_faults(message, ""))
    if message.get("role") != "assistant":
        yield name, "it must be a message of the role 'assistant'"
    if not message.get("content") and not message.get("tool_calls"):
        yield name, "it must have content or tool calls"


def _named(name: str, faults: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for pointer, message in faults:
        parts = pointer.split("/")[1:]
        path = tuple(int(part) if part.isdigit() else part for part in parts)
        yield parameter(name, path), f"it {message}"
