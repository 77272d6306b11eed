"""Reads the answer of a judge: the JSON object in it, and its words without the thinking.

Many judges reason aloud before they answer (`<think>…</think>`), put their JSON into a fence, or
add a sentence to it. Promises that nothing is read out of the thinking, nor out of a part of an
object; reads in time proportional to the length. Pure.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.graders.texts.thinking import THINKING_MARK
from app.domain.texts.storable_text import storable
from app.grading.texts.fences import fenced_blocks

_JSON: Final = re.compile(r'\{[ \t\r\n]*+["}]|\[[ \t\r\n]*+\{')
"""The beginning of an object or of a list of objects, complete or not."""
_START: Final = re.compile(r'(?:\[[ \t\r\n]*+)?\{[ \t\r\n]*+["}]')
"""The beginning of an object, or of a list of objects, but not of `{x}` in a sentence."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A string, complete or not, or a bracket."""


class UnreadableAnswer(Exception):
    """A judge's answer without a score; the text names the fault."""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    text: str
    """The answer without the thinking."""
    content: dict[str, Any] = field(default_factory=dict)
    """The JSON object of the answer; empty without any."""
    after: str = ""
    """The words after an object that stands in a sentence; empty for a whole or a fenced one."""

    @property
    def words(self) -> str:
        """The words before any JSON."""
        start = _JSON.search(self.text)
        return self.text if start is None else self.text[: start.start()]


@dataclass(frozen=True, slots=True)
class _Json:
    """A JSON value, and its place in the text."""

    value: Any
    start: int = 0
    end: int = 0


def read_answer(text: str) -> JudgeAnswer:
    """Reads the JSON after the thinking: the whole answer, else its last fence with JSON, else the
    last complete object. Raises `UnreadableAnswer` for thinking without an end.
    """
    # A whole object may quote marks of thinking, as may one behind the thinking.
    for part in (text, text.partition("</think>")[2]):
        if (whole := _parsed(part)) is not None:
            return JudgeAnswer(part, _object(whole.value))
    said = _without_thinking(text)
    for part in (said, *(block.text for block in reversed(fenced_blocks(said)))):
        if (found := _parsed(part)) is not None:
            return JudgeAnswer(said, _object(found.value))
    objects = [one for one in _embedded(said) if isinstance(one.value, dict)]
    if not objects:
        return JudgeAnswer(said)
    return JudgeAnswer(said, _joined(said, objects), said[objects[-1].end :])


def quoted_text(value: Any, *, most: int) -> str | None:
    """Returns the first characters of a text in a judge's JSON, which may have halves of surrogate
    pairs; `None` for any other value.
    """
    return storable(value[:most]) if isinstance(value, str) else None


def _joined(said: str, objects: list[_Json]) -> dict[str, Any]:
    """Returns the last object, with those directly in front of it: keys of several objects make
    one; where they contradict each other, as the scores of several criteria do, it is empty.
    """
    joined = dict[str, Any]()
    start = objects[-1].end
    for one in reversed(objects):
        if said[one.end : start].strip(" \t\r\n,;"):
            break
        if any(joined.get(key, value) != value for key, value in one.value.items()):
            return {}
        joined |= one.value
        start = one.start
    return joined


def _without_thinking(text: str) -> str:
    """Returns the text after the last mark that is outside JSON. Raises `UnreadableAnswer`."""
    spans, last = _embedded(text), None
    span = next(spans, None)
    for mark in THINKING_MARK.finditer(text):
        while span is not None and span.end <= mark.start():
            span = next(spans, None)
        if span is None or mark.start() < span.start:
            last = mark
    if last is None:
        return text
    if last["end"] is None:
        raise UnreadableAnswer("the judge's answer ends in its thinking")
    return text[last.end() :]


def _embedded(text: str) -> Iterator[_Json]:
    """Yields the complete JSON objects, and lists of objects, that are in no other one."""
    position = 0
    while (start := _START.search(text, position)) is not None:
        depth = 0
        for token in _TOKEN.finditer(text, start.start()):
            match token[0]:
                case "{" | "[":
                    depth += 1
                case "}" | "]":
                    depth -= 1
                case _:
                    continue
            if not depth:
                break
        else:
            return
        position = token.end()
        if (found := _parsed(text[start.start() : position])) is not None:
            yield _Json(found.value, start.start(), position)


def _parsed(text: str) -> _Json | None:
    try:
        return _Json(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
