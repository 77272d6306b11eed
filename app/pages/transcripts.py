"""Converts a rollout's trace to the parts of a page, turn by turn. Pure.

A page stays small whatever a model, tool or grader wrote: long texts are cut and turns beyond a
limit left out, with a notice for both.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from app.kit.fields import Json
from app.pages.rendering import CUT_AT, cut, pretty
from app.rollouts.rollouts import RolloutRow, prompt_messages

SHOWN_TURNS: Final = 100
_SHOWN_CALLS: Final = 20
"""Largest number of shown calls of a turn."""
_SHOWN_CHARACTERS: Final = 200_000
"""Characters of a whole transcript; each text keeps its beginning."""
_LEAST: Final = 200
_GLIMPSE: Final = 160


@dataclass(frozen=True, slots=True)
class ShownCall:
    id: str
    name: str
    arguments: str
    output: str
    error: str | None
    latency_s: float | None
    attempts: int | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message of the row, or a turn of the policy with its calls."""

    role: str
    text: str
    turn: int | None = None
    reasoning: str = ""
    tokens: int | None = None
    finish_reason: str | None = None
    parse_error: str | None = None
    calls: list[ShownCall] = field(default_factory=list)
    more_calls: int = 0
    reward: float | None = None
    """The reward that an environment gave for the turn."""
    done: bool = False
    """True if the environment ended the episode."""


@dataclass(frozen=True, slots=True)
class ShownTranscript:
    parts: list[ShownMessage]
    more_turns: int


@dataclass(frozen=True, slots=True)
class GraderNote:
    """Score and reason of one grader; the whole grader's name is empty."""

    name: str
    score: float | None
    reason: str
    error: str


def transcript(row: RolloutRow) -> ShownTranscript:
    """Returns the row's own messages and the turns of the policy, each with its calls."""
    texts, prompt = _Texts(), prompt_messages(row)
    turns: list[Json] = row.trace["turns"]
    shown = [_message(message, texts) for message in prompt[:SHOWN_TURNS]]
    shown += _turns(row.trace["messages"][len(prompt) :], turns[:SHOWN_TURNS], texts)
    more = max(0, len(turns) - SHOWN_TURNS) + max(0, len(prompt) - SHOWN_TURNS)
    return ShownTranscript(shown, more)


def grader_notes(row: RolloutRow) -> list[GraderNote]:
    """Returns the components with the reasons and errors of each, by name."""
    reasons: Mapping[str, str] = row.trace.get("grader_reasons") or {}
    errors: Mapping[str, str] = row.trace.get("grader_errors") or {}
    return [
        GraderNote(
            name=name,
            score=row.components.get(name) if name else row.reward,
            reason=cut(reasons.get(name, "")),
            error=cut(errors.get(name, "")),
        )
        for name in sorted({*row.components, *reasons, *errors})
    ]


def answer(row: RolloutRow | None) -> str:
    """Returns the last text that the policy wrote, cut to a line or two; empty without one."""
    if row is None:
        return ""
    written = row.trace["messages"][len(prompt_messages(row)) :]
    texts = [_text(message) for message in written if message.get("role") == "assistant"]
    return cut(texts[-1], _GLIMPSE) if texts else ""


class _Texts:
    """Cuts texts, more strictly the more of the page is filled."""

    def __init__(self) -> None:
        self._left = _SHOWN_CHARACTERS

    def cut(self, text: str) -> str:
        length = max(_LEAST, min(CUT_AT, self._left))
        self._left -= min(len(text), length)
        return cut(text, length)


def _turns(messages: list[Json], turns: list[Json], texts: _Texts) -> Iterator[ShownMessage]:
    """Yields the turns, and the messages with which an environment answered them."""
    number = 0
    for message in messages:
        if message.get("role") == "user":
            yield _message(message, texts)
        if message.get("role") != "assistant":
            continue
        if number == len(turns):
            return
        turn = turns[number]
        number += 1
        calls = turn.get("tool_calls") or []
        step: Json = turn.get("environment") or {}
        yield ShownMessage(
            role="assistant",
            text=texts.cut(_text(message)),
            turn=number,
            reasoning=texts.cut(str(message.get("reasoning_content") or "")),
            tokens=turn.get("tokens"),
            finish_reason=turn.get("finish_reason"),
            parse_error=turn.get("parse_error"),
            calls=[_call(call, texts) for call in calls[:_SHOWN_CALLS]],
            more_calls=max(0, len(calls) - _SHOWN_CALLS),
            reward=step.get("reward"),
            done=bool(step.get("done")),
        )


def _message(message: Json, texts: _Texts) -> ShownMessage:
    return ShownMessage(role=str(message.get("role", "")), text=texts.cut(_text(message)))


def _call(call: Json, texts: _Texts) -> ShownCall:
    return ShownCall(
        id=str(call.get("call_id", "")),
        name=cut(str(call.get("name", "")), 100),
        arguments=texts.cut(pretty(call.get("arguments", ""))),
        output=texts.cut(pretty(call.get("output", ""))),
        error=call.get("error"),
        latency_s=call.get("latency_s"),
        attempts=call.get("attempts"),
        repeated=bool(call.get("repeated")),
    )


def _text(message: Json) -> str:
    content = message.get("content")
    if content is None:
        return ""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
