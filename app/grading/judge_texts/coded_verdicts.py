"""Marks the verdict of a judge's second answer with a code that no judged text can have.

A judge may quote the judged answer in any form: without escapes, behind a forged end of its
thinking, as JSON of its own. No rule about texts separates a verdict from such a quotation. So the
second request renames the key of the verdict, `result` to `result_k3f9q2mz`, by a code that is
derived from the service's secret key for this question. The judge alone has read it. The last place
of the key decides; nothing in front of it is taken instead. Pure.
"""

import re
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from app.grading.judge_texts.scales import JudgeVerdict, VerdictScale
from app.grading.texts.json_in_text import embedded_json, json_at, object_of
from app.grading.texts.long_texts import matches_in

_SIGN: Final = re.compile(
    r"[\s\"'`*\\_]{0,8}(?P<sign>->|=>|[:=|>\uff1a\u2192]|(?<=\s)is\b)=?\s{0,8}"
)
"""The sign between a key and its value, and the marks around it."""
_ENDS: Final = {"|": "|", ">": "</"}
"""The end of a value behind the signs of a table and of a tag."""
_LONGEST: Final = 1_000
"""Number of characters of a value that are read, more than any number or label has."""
_UNCODED: Final = re.compile(
    r"(?<![^\W_])(?:results?|scores?|ratings?|grades?|verdict)[\s\"'`*\\]{0,8}"
    r"(?:->|=>|[:=\uff1a\u2192]|(?<=\s)is\b)|\\boxed\s?\{|\[\[",
    re.IGNORECASE,
)
"""A key of a verdict without the code, and its sign, or the beginning of another form."""
_OPENING: Final = " \t\n\"'`*_\\([{<$"
_MOST_UNCODED: Final = 1_000
"""Number of verdicts without the code behind the coded one that are compared with it."""


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

    def last_in(self, text: str) -> re.Match[str] | None:
        """Returns the last place of the key, in any case and with the backslashes of Markdown; the
        end of a tag is none.
        """
        pattern = re.compile(rf"(?<!/){self.name}\\{{0,2}}_{self.code}", re.IGNORECASE)
        found = deque(matches_in(pattern, text), maxlen=1)
        return found.pop() if found else None

    def content_of(self, text: str, scale: VerdictScale) -> dict[str, Any] | None:
        """Returns the verdict at the last place of the key, under the key's first name, with the
        valid object around it. `None` if that verdict is unclear, or another one without the code
        is behind it.
        """
        last = self.last_in(text)
        found = None if last is None else value_behind(text, last.end(), scale)
        if last is None or found is None:
            return None
        value, start = found
        if _is_void(value, text, start, scale):
            return None
        return {**self._object_around(text, last.start()), self.name: value}

    def _object_around(self, text: str, at: int) -> dict[str, Any]:
        for one in embedded_json(text):
            if one.end > at:
                is_within = one.start <= at and self.coded in object_of(one.value)
                return object_of(one.value) if is_within else {}
        return {}


def value_behind(text: str, at: int, scale: VerdictScale) -> tuple[JudgeVerdict, int] | None:
    """Returns the verdict behind a key that ends there, and where it begins."""
    sign = _SIGN.match(text, at)
    if sign is None:
        return None
    behind = text[sign.end() : sign.end() + _LONGEST]
    quoted = json_at(behind, 0) if behind.startswith('"') else None
    words = quoted if isinstance(quoted, str) else behind.split(_ENDS.get(sign["sign"], "\0"))[0]
    value = scale.verdict_in(words)
    return None if value is None else (value, sign.end())


def _is_void(value: JudgeVerdict, text: str, start: int, scale: VerdictScale) -> bool:
    """Returns whether another verdict without the code stands behind a coded one."""
    for number, found in enumerate(matches_in(_UNCODED, text[start:])):
        at = start + found.end()
        words = text[at : at + _LONGEST]
        if not scale.begins(words):
            words = words.lstrip(_OPENING)
        is_other = scale.begins(words) and scale.verdict_in(words) != value
        if is_other or number == _MOST_UNCODED:
            return True
    return False
