"""Reads the places of a coded key in a judge's words.

A place gives a verdict if the judge states it there: at the beginning of a line or of a sentence
that is an object. A place within a sentence may report a demand of the judged answer, so that it
only contradicts. Strings within valid JSON are no places. Pure.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from app.graders.judge_replies import bare_answer
from app.graders.scales import JudgeVerdict, VerdictScale, ends_there
from app.graders.texts import (
    EmbeddedJson,
    embedded_json,
    json_at,
    matches_in,
    object_of,
    objects_in,
    parsed_json,
)

_SIGN: Final = re.compile(
    r"[\s\"'`*\\_]{0,8}(?P<sign>->|=>|[:=|>\uff1a\u2192]|(?<=\s)is\b)=?\s{0,8}"
)
"""The sign between a key and its value, and the marks around it."""
_UNREAD: Final = re.compile(
    r"[\"'`*\\_]{0,4}\s?(?:\([^()\n]{0,60}\)\s?[:=]|[\u2013\u2014]|equals\b)", re.IGNORECASE
)
"""A sign that is not read, behind which another verdict than a stated one may be."""
_VAGUE: Final = re.compile(
    r"[\s\"'`*_]{0,8}(?:n/?a\b|null\b|none\b|about\b|only\b|very\b|[$~<]\s?\d)", re.IGNORECASE
)
"""A value that is not read, which may be another one than a stated one."""
_ENDS: Final = {"|": "|", ">": "</"}
"""The end of a value behind the signs of a table and of a tag."""
_LONGEST: Final = 1_000
"""Number of characters of a value that are read, more than any number or label has."""
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.){0,250}+"', re.DOTALL)
_LEAD: Final = re.compile(
    r"(?:[`~]{3,8}\w{0,20})?[\s>*_`~#|\"'\\<$+\u2022{\[-]{0,40}(?:\d{1,2}[.)]\s{1,4})?"
    r"(?:(?:so|thus|hence|therefore),?\s)?"
    r"(?:(?:my|my\sfinal|final|the\sfinal)\s(?:verdict|answer|result|score|rating|grade|json)"
    r"[*_`]{0,3}(?:\sis)?\s?:?)?[\s*_`\"'\\{\[$]{0,40}",
    re.IGNORECASE,
)
"""Everything that may stand between the beginning of a line and a verdict."""
_SENTENCE: Final = re.compile(r"[.!?][\"'`*)\]]{0,4}\s{1,8}[`]{0,3}\Z")
_IN_OBJECT: Final = re.compile(r"(?:\{\s{0,40}[\"'`\\]{0,4}|,\s{0,40}[\"'`\\]{1,4})\Z")
_OBJECT: Final = re.compile(r"(?:\A|\n|[.!?]\s)[\s>*_`~#\"'\\\[]{0,40}(?:json\s{0,4})?\{")
"""The beginning of an object, complete or not, with a line or a sentence."""
_REACH: Final = 200
"""Number of characters in front of a place that are searched for the beginning of its line."""
MOST_PLACES: Final = 1_000
"""Number of places of the key that are compared; an answer with more of them has no verdict."""


class SoughtKey(Protocol):
    @property
    def coded(self) -> str: ...

    def places_in(self, text: str) -> Iterator[re.Match[str]]: ...


@dataclass(frozen=True, slots=True)
class CodedPlace:
    verdict: JudgeVerdict | None
    """`None` if it is unclear, or within a sentence."""
    begun: JudgeVerdict | None
    """The verdict with which the words begin; not a number for another value."""
    end: int


def coded_places(text: str, key: SoughtKey, scale: VerdictScale) -> list[CodedPlace]:
    """Returns the places of the key with a sign behind it, in their order. A valid object counts as
    one, whatever is in its texts.
    """
    places, left, end = list[CodedPlace](), [*reversed(list(embedded_json(text)))], 0
    opened = _OBJECT.search(text)
    object_start = len(text) if opened is None else opened.start()
    for found in key.places_in(text):
        while left and left[-1].end <= found.start():
            left.pop()
        if found.start() < end:
            continue
        if left and left[-1].start < found.start():
            end = left[-1].end
            places += _in_object(text, left[-1], key, scale)
        elif _UNREAD.match(text, found.end()) is not None:
            places.append(CodedPlace(None, math.nan, found.end()))
        elif (sign := _SIGN.match(text, found.end())) is not None:
            end = sign.end()
            is_stated = _is_stated(text, found.start(), object_start)
            places.append(_behind(text, sign, scale, is_stated=is_stated))
        if len(places) > MOST_PLACES:
            break
    return places


def value_behind(text: str, at: int, scale: VerdictScale) -> JudgeVerdict | None:
    """Returns the verdict behind a key that ends there; `None` if it is unclear."""
    sign = _SIGN.match(text, at)
    return None if sign is None else _behind(text, sign, scale, is_stated=True).verdict


def values_of(value: Any, coded: str) -> list[Any]:
    """Returns the value at the key of an object, else those at the key within it."""
    holders = [one for one in objects_in(value) if coded in one]
    if isinstance(value, dict) and coded in value:
        holders = [value]
    return [one[coded] for one in holders]


def place_of(value: Any, scale: VerdictScale, end: int, *, is_stated: bool = True) -> CodedPlace:
    """Reads a value of JSON."""
    words = words_of(value[0] if isinstance(value, list) and len(value) == 1 else value)
    verdict = None if words is None else scale.verdict_in(words)
    begun = math.nan if verdict is None else verdict
    return CodedPlace(verdict if is_stated else None, begun, end)


def words_of(value: Any) -> str | None:
    """Returns a number, text or truth value of JSON in plain words, `None` for any other value."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        return None
    is_tiny = isinstance(value, float) and "e" in str(value)
    return f"{value:.12f}" if is_tiny else str(value)


def starts_line(text: str, at: int) -> bool:
    """Returns whether only marks, or the name of a verdict, stand between the beginning of a line
    and a place.
    """
    line = max(text.rfind("\n", 0, at) + 1, at - _REACH)
    return _LEAD.fullmatch(text, line, at) is not None


def is_stated_object(text: str, at: int) -> bool:
    """Returns whether an object that begins there begins a line or a sentence."""
    before = text[max(0, at - _REACH) : at]
    return starts_line(text, at) or _SENTENCE.search(before) is not None


def _in_object(
    text: str, found: EmbeddedJson, key: SoughtKey, scale: VerdictScale
) -> Iterator[CodedPlace]:
    is_stated = is_stated_object(text, found.start)
    for value in values_of(found.value, key.coded):
        yield place_of(value, scale, found.end, is_stated=is_stated)


def _is_stated(text: str, at: int, object_start: int) -> bool:
    """Returns whether a key begins a line, or stands in an object that is not valid JSON, the first
    of which begins at `object_start`.
    """
    if starts_line(text, at):
        return True
    return object_start < at and _IN_OBJECT.search(text, max(0, at - _REACH), at) is not None


def _behind(text: str, sign: re.Match[str], scale: VerdictScale, *, is_stated: bool) -> CodedPlace:
    """Reads the words behind a key's sign: a string of JSON, or all up to the end of a cell."""
    behind = text[sign.end() : sign.end() + _LONGEST]
    string = _STRING.match(behind)
    if string is not None and isinstance(said := json_at(string[0], 0), str):
        is_stated &= ends_there(behind, string.end())
        words = said
    else:
        words = behind.split(_ENDS.get(sign["sign"], "\0"))[0]
    verdict, begun = scale.verdict_in(words) if is_stated else None, scale.begun(words)
    if begun is None and _VAGUE.match(words):
        begun = math.nan
    return CodedPlace(verdict, begun, sign.end())


_UNCODED: Final = re.compile(
    r"(?<![^\W_])(?<![^\W_]_)(?:results?|scores?|ratings?|grades?|verdict)[\s\"'`*\\]{0,8}"
    r"(?:->|=>|[:=\uff1a\u2192]|(?<=\s)is\b)|\\boxed\s?\{|\[\[",
    re.IGNORECASE,
)
"""A key of a verdict without the code, and its sign, or the beginning of another form."""
_OPENING: Final = " \t\n\"'`*_\\([{<$"
_LONGEST_VERDICTS: Final = 1_000
"""Number of characters of a verdict without the code that are read."""
_MOST_UNCODED: Final = 1_000
"""Number of verdicts without the code behind the coded one that are compared with it."""


@dataclass(frozen=True, slots=True)
class CodedKey:
    """The key of a verdict in the answer to a repeated request."""

    name: str
    """The key in the first answer: `result` or `score`."""
    code: str
    needs_json: bool = False
    """True if the key counts only in a JSON object that is all of an answer, or all behind its
    thinking.
    """

    @property
    def coded(self) -> str:
        return f"{self.name}_{self.code}"

    @property
    def instruction(self) -> str:
        return (
            f'Answer with the JSON object alone, and write its key "{self.name}" as "{self.coded}".'
        )

    def is_in(self, text: str) -> bool:
        return any(self.places_in(text))

    def places_in(self, text: str) -> Iterator[re.Match[str]]:
        """Yields the places of the key, in any case and with the backslashes of Markdown; the end
        of a tag is none.
        """
        return matches_in(
            re.compile(rf"(?<!/){self.name}\\{{0,2}}_{self.code}", re.IGNORECASE), text
        )

    def plain(self, text: str) -> str:
        """Returns a text with the key as it was requested, without the backslashes of Markdown."""
        return re.sub(rf"{self.name}\\{{1,2}}_{self.code}", self.coded, text)

    def content_of(self, text: str, scale: VerdictScale) -> dict[str, Any] | None:
        """Returns the verdict at the key in a judge's words, under the key's first name, with the
        valid object that has it. `None` if the verdict is unclear, or another one is beside it.
        """
        whole = parsed_json(bare_answer(text))
        root = object_of(None if whole is None else whole.value)
        if self.needs_json and self.coded not in root:
            return None
        if whole is not None and isinstance(whole.value, str):
            return self.content_of(whole.value, scale)
        if whole is not None:
            objects = [one for one in objects_in(whole.value) if self.coded in one]
            values = values_of(whole.value, self.coded)
            places, behind = [place_of(value, scale, len(text)) for value in values], ""
        else:
            found = (object_of(one.value) for one in embedded_json(text))
            objects = [one for one in found if self.coded in one]
            places = coded_places(text, self, scale)
            behind = text[places[-1].end :] if places else ""
        value = _agreed(places)
        if value is None or _has_other(value, behind, objects, self, scale):
            return None
        return {**(objects[0] if objects else {}), self.name: value}


def names_verdict(text: str) -> bool:
    """Returns whether a text has a verdict without the code."""
    return any(matches_in(_UNCODED, text))


def _agreed(places: list[CodedPlace]) -> JudgeVerdict | None:
    """Returns the verdict that is stated at one place at least; all others have it too, or begin
    with none.
    """
    stated = {one.verdict for one in places if one.verdict is not None}
    if len(stated) != 1 or len(places) > MOST_PLACES:
        return None
    (value,) = stated
    return value if all(one.begun in {None, value} for one in places) else None


def _has_other(
    value: JudgeVerdict,
    behind: str,
    objects: list[dict[str, Any]],
    key: CodedKey,
    scale: VerdictScale,
) -> bool:
    """Returns whether another verdict without the code stands behind the last coded one, or behind
    it in its object at the key's first name.
    """
    for one in objects:
        beside = list(one)[list(one).index(key.coded) :]
        if key.name in beside and scale.begun(str(one[key.name])) not in {None, value}:
            return True
    for number, found in enumerate(matches_in(_UNCODED, behind)):
        words = behind[found.end() : found.end() + _LONGEST_VERDICTS].lstrip(_OPENING)
        if scale.begun(words) not in {None, value} or number == _MOST_UNCODED:
            return True
    return False
