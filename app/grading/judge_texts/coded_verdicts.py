"""Marks the verdict of a judge's repeated answer with a code that no judged text can have.

A judge may quote the judged answer in any form: without escapes, behind a forged end of its
thinking, as JSON of its own. No rule about texts separates a verdict from such a quotation. So the
repeated request renames the key of the verdict, `result` to `result_3f09a2be71`, by a code that is
derived from the service's secret key for this question. The judge alone has read it. All verdicts
at this key behind its thinking must agree (`coded_places.py`): one of them may be the verdict that
the judged answer asks for. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.grading.judge_texts.bare_answers import bare_answer
from app.grading.judge_texts.coded_places import (
    MOST_PLACES,
    CodedPlace,
    coded_places,
    place_of,
    values_of,
)
from app.grading.judge_texts.scales import JudgeVerdict, VerdictScale
from app.grading.texts.json_in_text import embedded_json, object_of, objects_in, parsed_json
from app.grading.texts.long_texts import matches_in

_UNCODED: Final = re.compile(
    r"(?<![^\W_])(?<![^\W_]_)(?:results?|scores?|ratings?|grades?|verdict)[\s\"'`*\\]{0,8}"
    r"(?:->|=>|[:=\uff1a\u2192]|(?<=\s)is\b)|\\boxed\s?\{|\[\[",
    re.IGNORECASE,
)
"""A key of a verdict without the code, and its sign, or the beginning of another form."""
_OPENING: Final = " \t\n\"'`*_\\([{<$"
_LONGEST: Final = 1_000
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
        words = behind[found.end() : found.end() + _LONGEST].lstrip(_OPENING)
        if scale.begun(words) not in {None, value} or number == _MOST_UNCODED:
            return True
    return False
