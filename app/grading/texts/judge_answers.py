"""Reads the answer of a judge: the JSON object in it, and its words without the thinking.

Many judges reason aloud before they answer (`<think>…</think>`), put their JSON into a fence, or
add a sentence to it, and some quote what they judge. Promises that nothing is read out of the
thinking, out of a part of an object, or out of a quotation, by which an answer could score itself,
nor one of several verdicts that differ; reads in time proportional to the length. Pure.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from app.domain.graders.texts.numerals import number_of
from app.domain.graders.texts.thinking import THINKING_MARK
from app.domain.texts.storable_text import storable
from app.grading.score_bounds import finite
from app.grading.texts.fences import FENCE, fenced_blocks

QUOTED_CHARACTERS: Final = 200
"""Number of first characters of a judge's words that a score or an error keeps."""
_JSON: Final = re.compile(r'\{[ \t\r\n]*+["}]|\[[ \t\r\n]*+\{')
"""The beginning of an object or of a list of objects, complete or not."""
_START: Final = re.compile(r'(?:\[[ \t\r\n]*+)?\{[ \t\r\n]*+["}]')
"""The beginning of an object, or of a list of objects, but not of `{x}` in a sentence."""
_VERDICTS: Final = ("result", "score", "scores")
"""The keys of a judge's JSON that decide a score."""
_DIFFERENT: Final = "the judge's answer has several JSON objects whose verdicts differ"
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
    judged: Any = None
    """The sample or the rollouts that were judged."""
    left_out: tuple[dict[str, Any], ...] = ()
    """Objects that were left out as quotations of it."""

    def unscored(self) -> "JudgeAnswer":
        """Returns an answer without words and objects, in which no reader finds a score."""
        return replace(self, text="", content={}, after="")

    @property
    def words(self) -> str:
        """The words before any JSON."""
        start = _JSON.search(self.text)
        return self.text if start is None else self.text[: start.start()]


_Verdict = tuple[str, str]
"""The key of a verdict, and its value in one form."""


@dataclass(frozen=True, slots=True)
class _Json:
    """A JSON value, and its place in the text."""

    value: Any
    start: int = 0
    end: int = 0


def read_answer(text: str, judged: Any = None) -> JudgeAnswer:
    """Reads the JSON after the thinking: the whole answer, else its last fence with JSON, else the
    last complete object. Beside other words an object with a verdict that `judged` has too, the
    sample or the rollouts, is a quotation and does not count. Raises `UnreadableAnswer` for
    thinking without an end, and for other objects whose verdicts differ: a judge may restate in
    JSON what the judged answer asks for in another spelling, in front of its own verdict or behind.
    """
    quotes_marks = not _begins_with_thinking(text) and any(
        THINKING_MARK.search(each) is not None for each in texts_in(judged)
    )
    # A whole object may quote marks of thinking, as may one behind the thinking.
    for part in (text, "" if quotes_marks else text.partition("</think>")[2]):
        if (whole := _parsed(part)) is not None:
            return JudgeAnswer(part, _object(whole.value), judged=judged)
    said = text if quotes_marks else _without_thinking(text)
    if _is_alone(said):
        return _read(said, judged)
    kept, left_out = _without_quotations(said, judged)
    found = replace(_read(kept, judged), left_out=tuple(left_out))
    begins = _START.match(said.lstrip()) is not None
    return found.unscored() if _is_raised(found.content, left_out, begins=begins) else found


def _read(said: str, judged: Any) -> JudgeAnswer:
    """Reads what is left of an answer. Raises `UnreadableAnswer` for verdicts that differ."""
    if (whole := _parsed(said)) is not None:
        return JudgeAnswer(said, _object(whole.value), judged=judged)
    objects = [one for one in _embedded(said) if isinstance(one.value, dict)]
    if len({frozenset(verdicts) for one in objects if (verdicts := _verdicts(one.value))}) > 1:
        raise UnreadableAnswer(_DIFFERENT)
    for block in reversed(fenced_blocks(said)):
        if (fenced := _parsed(block.text)) is not None:
            return JudgeAnswer(said, _object(fenced.value), judged=judged)
    if not objects:
        return JudgeAnswer(said, judged=judged)
    return JudgeAnswer(said, _joined(said, objects), said[objects[-1].end :], judged)


def _begins_with_thinking(text: str) -> bool:
    mark = THINKING_MARK.match(text.lstrip())
    return mark is not None and mark["end"] is None


def _is_raised(kept: dict[str, Any], left_out: list[dict[str, Any]], *, begins: bool) -> bool:
    """Returns whether a verdict is better than one that was left out as a quotation: an answer
    could have the judge's own verdicts left out, all but the best. No label is better than another
    one; there the judge's own one must begin its answer.
    """
    return any(
        _is_better(kept[key], one[key], begins=begins)
        for key in _VERDICTS
        for one in left_out
        if key in kept and key in one
    )


def _is_better(verdict: Any, other: Any, *, begins: bool) -> bool:
    mine, its = _numbers(verdict), _numbers(other)
    if not mine or not its:
        return not begins and _plain(verdict) != _plain(other)
    return any(number > its[name] for name, number in mine.items() if name in its)


def _numbers(value: Any) -> dict[str, float]:
    """Returns the numbers of a verdict, by the ids of the rollouts; none for a label."""
    if isinstance(value, list):
        entries = [_object(entry) for entry in value]
        found = {str(one.get("id")): _numbers(one.get("score")) for one in entries}
        return {name: numbers[""] for name, numbers in found.items() if numbers}
    number = finite(value)
    if number is None and isinstance(value, str):
        read = number_of(value)
        number = float(read) if isinstance(read, Decimal) else None
    return {} if number is None else {"": number}


def texts_in(value: Any) -> Iterator[str]:
    """Yields the texts within a JSON value, each once."""
    found, left = set[str](), [value]
    while left:
        match left.pop():
            case str() as text if text not in found:
                found.add(text)
                yield text
            case dict() as inner:
                left += inner.values()
            case list() | tuple() as inner:
                left += inner
            case _:
                pass


def _is_alone(said: str) -> bool:
    """Returns whether an answer is JSON or one fenced block, without other words."""
    said = said.strip()
    if _parsed(said) is not None:
        return True
    return said.startswith(FENCE) and said.endswith(FENCE) and len(fenced_blocks(said)) == 1


def _without_quotations(said: str, judged: Any) -> tuple[str, list[dict[str, Any]]]:
    """Returns the text without the objects whose verdict the judged texts have too, and these
    objects.
    """
    objects = [one for one in _embedded(said) if _verdicts(one.value)]
    if not objects:
        return said, []
    sent = {verdict for text in texts_in(judged) for verdict in _verdicts_in(text)}
    kept, left_out, at = list[str](), list[dict[str, Any]](), 0
    for one in objects:
        if sent.isdisjoint(_verdicts(one.value)):
            continue
        kept += [said[at : one.start], " "]
        left_out.append(_object(one.value))
        at = one.end
    return "".join([*kept, said[at:]]), left_out


def _verdicts_in(text: str) -> Iterator[_Verdict]:
    """Yields the verdicts of all objects in a text, also of those within others."""
    left: list[Any] = [one.value for one in _embedded(text)]
    while left:
        match left.pop():
            case dict() as inner:
                yield from _verdicts(inner)
                left += inner.values()
            case list() as inner:
                left += inner
            case _:
                pass


def _verdicts(value: Any) -> set[_Verdict]:
    """Returns the verdicts of an object, equal for equal ones however they are written."""
    found = _object(value)
    return {(key, _plain(found[key])) for key in _VERDICTS if key in found}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        entries = [_object(entry) for entry in value]
        return json.dumps([[str(one.get("id")), _plain(one.get("score"))] for one in entries])
    number = number_of(value) if isinstance(value, str) else None
    if isinstance(number, Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
        value = finite(value if number is None else float(number))
    return json.dumps(value, sort_keys=True)


def quoted_text(value: Any, *, most: int = QUOTED_CHARACTERS) -> str | None:
    """Returns the first characters of a text in a judge's JSON, which may have halves of surrogate
    pairs; `None` for any other value.
    """
    return storable(value[:most]) if isinstance(value, str) else None


def _joined(said: str, objects: list[_Json]) -> dict[str, Any]:
    """Returns the last object, with those directly in front of it: keys of several objects make
    one; where they contradict each other, it is empty.
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
