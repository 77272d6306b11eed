"""Marks the verdict of a judge's second answer with a code that no judged text can have.

A judge may quote the judged answer in any form: without escapes, behind a forged end of its
thinking, as JSON of its own. No rule about texts separates a verdict from such a quotation. So the
second request renames the key of the verdict, `result` to `result_k3f9q2mz`, by a code that is
derived from the service's secret key for this question. The judge alone has read it. All verdicts
that the judge writes at this key behind its thinking must agree: one of them may be the verdict
that the judged answer asks for. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.grading.judge_texts.bare_answers import bare_answer
from app.grading.judge_texts.scales import JudgeVerdict, VerdictScale, ends_there
from app.grading.texts.json_in_text import (
    EmbeddedJson,
    embedded_json,
    json_at,
    object_of,
    parsed_json,
)
from app.grading.texts.long_texts import matches_in

_SIGN: Final = re.compile(
    r"[\s\"'`*\\_]{0,8}(?P<sign>->|=>|[:=|>\uff1a\u2192]|(?<=\s)is\b)=?\s{0,8}"
)
"""The sign between a key and its value, and the marks around it."""
_ENDS: Final = {"|": "|", ">": "</"}
"""The end of a value behind the signs of a table and of a tag."""
_LONGEST: Final = 1_000
"""Number of characters of a value that are read, more than any number or label has."""
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.){0,250}+"', re.DOTALL)
_UNCODED: Final = re.compile(
    r"(?<![^\W_])(?<![^\W_]_)(?:results?|scores?|ratings?|grades?|verdict)[\s\"'`*\\]{0,8}"
    r"(?:->|=>|[:=\uff1a\u2192]|(?<=\s)is\b)|\\boxed\s?\{|\[\[",
    re.IGNORECASE,
)
"""A key of a verdict without the code, and its sign, or the beginning of another form."""
_OPENING: Final = " \t\n\"'`*_\\([{<$"
_MOST_PLACES: Final = 1_000
"""Number of places of the key that are compared; an answer with more of them has no verdict."""
_MOST_UNCODED: Final = 1_000
"""Number of verdicts without the code behind the coded one that are compared with it."""


@dataclass(frozen=True, slots=True)
class _Place:
    verdict: JudgeVerdict | None
    """`None` if it is unclear."""
    begun: JudgeVerdict | None
    """The verdict with which the words begin, clear or not."""


def _agreed(places: list[_Place]) -> JudgeVerdict | None:
    """Returns the verdict of all clear places. Unclear ones behind the last of them must begin with
    it too.
    """
    if len(places) > _MOST_PLACES:
        return None
    clear = [number for number, one in enumerate(places) if one.verdict is not None]
    if not clear or len({places[number].verdict for number in clear}) > 1:
        return None
    value = places[clear[-1]].verdict
    return value if all(one.begun == value for one in places[clear[-1] + 1 :]) else None


@dataclass(frozen=True, slots=True)
class CodedKey:
    """The key of a verdict in a second answer."""

    name: str
    """The key in the first answer: `result` or `score`."""
    code: str

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

    def content_of(self, text: str, scale: VerdictScale) -> dict[str, Any] | None:
        """Returns the verdict at the key in a judge's words, under the key's first name, with the
        last valid object that has it. `None` if the verdict is unclear, or another one is beside
        it.
        """
        whole = parsed_json(bare_answer(text))
        if whole is not None and self.coded in object_of(whole.value):
            places, start, objects = [self._place_in(whole, scale)], len(text), [whole]
        else:
            objects = [one for one in embedded_json(text) if self.coded in object_of(one.value)]
            places, start = self._written_in(text, objects, scale)
        value = _agreed(places)
        if value is None or _has_other(value, text[start:], objects, self, scale):
            return None
        return {**(object_of(objects[-1].value) if objects else {}), self.name: value}

    def _written_in(
        self, text: str, objects: list[EmbeddedJson], scale: VerdictScale
    ) -> tuple[list[_Place], int]:
        """Returns the places of the key with a sign behind it, and where the last one ends. An
        object counts as one, whatever is in its texts.
        """
        places, left, end = list[_Place](), [*reversed(objects)], 0
        for found in self.places_in(text):
            while left and left[-1].end <= found.start():
                left.pop()
            if found.start() < end:
                continue
            if left and left[-1].start < found.start():
                end = left[-1].end
                places.append(self._place_in(left[-1], scale))
            elif (sign := _SIGN.match(text, found.end())) is not None:
                end = sign.end()
                places.append(_place_behind(text, sign, scale))
            if len(places) > _MOST_PLACES:
                break
        return places, end

    def _place_in(self, found: EmbeddedJson, scale: VerdictScale) -> _Place:
        value = object_of(found.value)[self.coded]
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        words = words_of(value)
        if words is None:
            return _Place(None, None)
        return _Place(scale.verdict_in(words), scale.begun(words))


def words_of(value: Any) -> str | None:
    """Returns a number or text of JSON in plain words, `None` for any other value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    is_tiny = isinstance(value, float) and "e" in str(value)
    return f"{value:.12f}" if is_tiny else str(value)


def value_behind(text: str, at: int, scale: VerdictScale) -> JudgeVerdict | None:
    """Returns the verdict behind a key that ends there; `None` if it is unclear."""
    sign = _SIGN.match(text, at)
    return None if sign is None else _place_behind(text, sign, scale).verdict


def _place_behind(text: str, sign: re.Match[str], scale: VerdictScale) -> _Place:
    """Reads the words behind a key's sign: a string of JSON, or all up to the end of a cell."""
    behind = text[sign.end() : sign.end() + _LONGEST]
    string = _STRING.match(behind)
    if string is not None and isinstance(said := json_at(string[0], 0), str):
        is_clear = ends_there(behind, string.end())
        return _Place(scale.verdict_in(said) if is_clear else None, scale.begun(said))
    words = behind.split(_ENDS.get(sign["sign"], "\0"))[0]
    return _Place(scale.verdict_in(words), scale.begun(words))


def _has_other(
    value: JudgeVerdict,
    behind: str,
    objects: list[EmbeddedJson],
    key: CodedKey,
    scale: VerdictScale,
) -> bool:
    """Returns whether another verdict without the code stands behind a coded one, or in its
    object.
    """
    for one in objects:
        keys = object_of(one.value)
        beside = list(keys)[list(keys).index(key.coded) :]
        if key.name in beside and scale.begun(str(keys[key.name])) not in {None, value}:
            return True
    for number, found in enumerate(matches_in(_UNCODED, behind)):
        words = behind[found.end() : found.end() + _LONGEST].lstrip(_OPENING)
        if scale.begun(words) not in {None, value} or number == _MOST_UNCODED:
            return True
    return False
