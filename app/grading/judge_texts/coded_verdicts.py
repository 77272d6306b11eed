"""Marks the verdict of a judge's second answer with a code that no judged text can have.

A judge may quote the judged answer in any form: without escapes, behind a forged end of its
thinking, as JSON of its own. No rule about texts separates a verdict from such a quotation. So the
second request renames the key of the verdict, `result` to `result_k3f9q2mz`, by a code that is
derived from the service's secret key for this question. The judge alone has read it. Pure.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from app.grading.texts.json_in_text import embedded_json, object_of
from app.grading.texts.long_texts import matches_in

_MARKS: Final = r"[\s\"'`*\\]{0,8}"
_MOST_VALUES: Final = 1_000
"""Number of values that are read: a judge writes one, and some more in its thinking."""
_LONGEST: Final = 1_000
"""Number of characters of a value that are read, more than any number or label has."""
_LIST: Final = "scores"
_OF_GROUP: Final = re.compile(r'\{\s{0,64}"scores"')
_MOST_LISTS: Final = 16
"""Number of last objects of a group that are read: each may be as long as the answer."""
_ITEM: Final = re.compile(r"[^\n,;}\]]{1,200}")
"""A value without quotes, as in `result: good`."""
_EDGES: Final = " \t\"'`*\\."


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

    def in_format(self, value: Any) -> Any:
        """Returns a response format with the coded key instead of the other one."""
        if isinstance(value, dict):
            return {self._renamed(key): self.in_format(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._renamed(one) if isinstance(one, str) else one for one in value]
        return value

    def _renamed(self, key: str) -> str:
        return self.coded if key == self.name else key

    def content_of(self, text: str) -> dict[str, Any] | None:
        """Returns the last object of an answer that has the coded key, under its first name; else
        the last value behind the key alone, if the JSON is broken or there is none. `None` without
        the key.
        """
        if self.coded not in text:
            return None
        objects = [object_of(one.value) for one in embedded_json(text)]
        for content in reversed([*_lists_in(text), *objects]):
            if self.coded in content:
                return {**content, self.name: content[self.coded]}
            entries = content.get(_LIST)
            if isinstance(entries, list) and any(self.coded in object_of(one) for one in entries):
                return {_LIST: [self._uncoded(one) for one in entries]}
        values = self._values(text)
        return {self.name: values[-1]} if values else None

    def _uncoded(self, entry: Any) -> Any:
        """Returns an entry with its own score alone: one without the code may be a quotation."""
        if not isinstance(entry, dict):
            return entry
        named = {key: entry[key] for key in entry if key != self.name}
        return {**named, self.name: entry[self.coded]} if self.coded in entry else named

    def _values(self, text: str) -> list[Any]:
        """Returns the numbers and texts in JSON behind the key, else the words behind it."""
        pattern = re.compile(rf"{re.escape(self.coded)}{_MARKS}[:=]\s{{0,8}}")
        read, words = list[Any](), list[str]()
        for number, found in enumerate(matches_in(pattern, text)):
            if number == _MOST_VALUES:
                break
            behind = text[found.end() : found.end() + _LONGEST]
            value = _decoded(behind)
            if value is not None:
                read.append(value)
            elif (word := _ITEM.match(behind)) is not None:
                words.append(word[0].strip(_EDGES))
        return read or words


def _lists_in(text: str) -> list[dict[str, Any]]:
    """Returns the objects of a group, wherever they begin: a quotation in front of one may have a
    bracket without an end.
    """
    starts = [found.start() for found in matches_in(_OF_GROUP, text)][-_MOST_LISTS:]
    return [object_of(_json_at(text, start)) for start in starts]


def _json_at(text: str, start: int) -> Any:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def _decoded(text: str) -> str | int | float | None:
    """Returns the number or the text that stands at the beginning, `None` for anything else."""
    value = _json_at(text, 0)
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None
