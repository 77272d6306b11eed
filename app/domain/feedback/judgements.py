"""A judgement: feedback together with the prompt and the answers that it is about. Pure."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from app.domain.documents.json_object import Json
from app.domain.feedback.feedback import FeedbackType, Rating


@dataclass(frozen=True, slots=True)
class JudgedPrompt:
    """A conversation up to the answer, and the tools that it offered."""

    messages: list[Json]
    tools: list[Json]

    @property
    def key(self) -> str:
        """Returns a digest that two equal prompts share."""
        return digest([self.messages, self.tools])

    @property
    def text(self) -> str:
        """Returns the texts of all messages, in order."""
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
    """The answer that was rated, corrected or rejected."""
    better: Json | None
    """The answer that should have been, or that was preferred."""

    @property
    def target(self) -> str:
        """Returns a digest of what is judged: a prompt with its answer or answers."""
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
    """Returns the parts of an assistant message that a job learns: its content and its calls."""
    kept: Json = {"role": "assistant", "content": message.get("content")}
    if message.get("tool_calls"):
        kept["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    return kept


def text_of(content: Any) -> str:
    """Returns the text of a message's content, whole or in parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or part.get("refusal") or "" for part in content)
    return content if isinstance(content, str) else ""


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
