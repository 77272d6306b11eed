"""A lesson: one question, its right answer, and the answer of a sloppy habit.

A habit shows in the first word of the answer, so that tuning has one place to move; what follows a
right beginning is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One question with both ways to answer it."""

    messages: list[Message]
    """The prompt, as the rows of a recipe have it."""
    right: Message
    sloppy: Message
    tools: list[dict[str, Any]] = field(default_factory=list)
    reference: dict[str, Any] = field(default_factory=dict)
    """Fields of a row that the recipe's grader reads beside the messages."""

    def transcript(self, *, is_sloppy: bool) -> list[Message]:
        """Returns the prompt and one of the answers."""
        return [*self.messages, self.sloppy if is_sloppy else self.right]


Draw = Callable[[Random], Lesson]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calling(name: str, arguments: dict[str, Any], *, text: str = "") -> Message:
    """Returns an assistant's message that calls one function."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [{"type": "function", "function": function}],
    }
