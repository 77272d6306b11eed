"""Marks the verdict of a judge's second answer with a code that no judged text can have.

A judge may quote the judged answer in any form: without escapes, behind a forged end of its
thinking, as JSON of its own. No rule about texts separates a verdict from such a quotation. So the
second request renames the key of the verdict, `result` to `result_k3f9q2mz`, by a code that is
derived from the service's secret key for this question. The judge alone has read it. Pure.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.grading.texts.json_in_text import EmbeddedJson, embedded_json, json_at, object_of
from app.grading.texts.long_texts import matches_in

_MARKS: Final = r"[\s\"'`*\\]{0,8}"
_MOST_VALUES: Final = 1_000
"""Number of values that are read: a judge writes one, and some more in its thinking."""
_LONGEST: Final = 1_000
"""Number of characters of a value that are read, more than any number or label has."""
_LIST: Final = "scores"
_LIST_STARTS: Final = re.compile(r'"scores"\s{0,64}:\s{0,64}(?=\[)')
_MOST_LISTS: Final = 16
"""Number of last lists of a group that are read: each may be as long as the answer."""
_ITEM: Final = re.compile(r"(?:(?!,\s{0,16}[\"'])[^\n;}\]]){1,200}")
"""A value without quotes, up to the end of its line, its object or another key."""
_EDGES: Final = " \t\"'`\\"
_FIRST: Final = re.compile(r"[^\s,;:()/*]{1,80}")

Readable = Callable[[Any], bool]
"""Returns whether a value is a verdict, such as a number or one of the labels."""


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
            renamed = {self._renamed(key): self.in_format(inner) for key, inner in value.items()}
            if "required" in value:
                renamed["required"] = [self._renamed(key) for key in value["required"]]
            return renamed
        return value

    def _renamed(self, key: str) -> str:
        return self.coded if key == self.name else key

    def content_of(self, text: str, is_readable: Readable | None) -> dict[str, Any] | None:
        """Returns the last verdict at the coded key: its object, or the value alone where there is
        no valid one, under the first name of the key. `None` without a readable verdict. For a
        group, `is_readable` is `None` and the last list counts.
        """
        if self.coded not in text:
            return None
        found = [*(self._lists(text) if is_readable is None else self._values(text, is_readable))]
        return max(found, key=lambda one: one[0])[1] if found else None

    def _lists(self, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yields the last lists of a group with their places, wherever they begin: a quotation in
        front of one may have a bracket without an end. An entry without the code is none.
        """
        for start in list(matches_in(_LIST_STARTS, text))[-_MOST_LISTS:]:
            entries = json_at(text, start.end())
            coded = [
                {**one, self.name: one[self.coded]}
                for one in map(object_of, entries if isinstance(entries, list) else [])
                if self.coded in one
            ]
            if coded:
                yield start.start(), {_LIST: coded}

    def _values(
        self, text: str, is_readable: Readable
    ) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Yields the objects that have the key, and the values behind a key that is in none; `None`
        for words that only begin with a value, which leave open what is meant.
        """
        objects = [one for one in embedded_json(text) if self.coded in object_of(one.value)]
        for one in objects:
            if is_readable(one.value[self.coded]):
                yield one.end, {**one.value, self.name: one.value[self.coded]}
        pattern = re.compile(rf"{re.escape(self.coded)}{_MARKS}[:=]\s{{0,8}}")
        for number, found in enumerate(matches_in(pattern, text)):
            if number == _MOST_VALUES:
                break
            if _is_within(objects, found.start()):
                continue
            value, is_clear = _value_at(text, found.end(), is_readable)
            if value is not None:
                yield found.end(), {self.name: value} if is_clear else None


def _is_within(objects: list[EmbeddedJson], at: int) -> bool:
    return any(one.start <= at < one.end for one in objects)


def _value_at(text: str, start: int, is_readable: Readable) -> tuple[str | None, bool]:
    """Returns the text in quotes that begins there, or the words up to their end, and whether it is
    a verdict as a whole; `None` if not even its beginning is one.
    """
    behind = text[start : start + _LONGEST]
    quoted = json_at(behind, 0) if behind.startswith('"') else None
    found = _ITEM.match(behind)
    words = quoted if isinstance(quoted, str) else "" if found is None else found[0].strip(_EDGES)
    for whole in (words, words.rstrip(f"{_EDGES},.*_")):
        if is_readable(whole):
            return whole, True
    first = _FIRST.match(words)
    return (words, False) if first is not None and is_readable(first[0]) else (None, False)
