"""Divides rows by their texts, without a model: rows that share rare words are a slice. Pure.

A row's text is a vector over its words, each weighed by how rare it is among the rows (TF-IDF).
Numbers and quoted names are left out, because they differ from row to row. Each row joins the most
similar earlier slice, or founds one. The order of the rows alone decides, so that the same rows
give the same slices.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.coach.samples import PracticeRow

MOST_TEXT_SLICES: Final = 12
"""Slices that a set of rows is divided into at most; rows beyond join the most similar one."""
FEWEST_ROWS: Final = 6
"""Rows below which similar rows are no slice: its interval would be too wide."""
_SIMILAR: Final = 0.3
"""Cosine from which two texts are of one slice."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^'\s]*'|`[^`]*`|\d+")
_READ: Final = 4000
_NAMED_BY: Final = 3
"""Words in the name of a slice."""

Vector = dict[str, float]


@dataclass(frozen=True, slots=True)
class TextSlice:
    name: str
    """The words that distinguish it most."""
    rows: tuple[int, ...]


class TextSlices:
    """The slices of some rows by their texts, which other rows can be assigned to."""

    def __init__(self, rows: Sequence[PracticeRow]) -> None:
        words = [_words(row.text) for row in rows]
        seen = Counter(word for counted in words for word in counted)
        self._weight = {word: math.log((1 + len(rows)) / count) for word, count in seen.items()}
        self._founders: list[Vector] = []
        self._members: list[list[tuple[int, Counter[str]]]] = []
        for row, counted in zip(rows, words, strict=True):
            self._join(row.index, counted)

    @property
    def slices(self) -> list[TextSlice]:
        """Returns those with enough rows, unless one has them all: that is no slice."""
        found = [
            TextSlice(self._name(number), tuple(row for row, _ in members))
            for number, members in enumerate(self._members)
            if len(members) >= FEWEST_ROWS
        ]
        return found if len(self._members) > 1 else []

    def assigned(self, rows: Sequence[PracticeRow]) -> dict[str, list[int]]:
        """Returns which of other rows belong to each slice, by its name."""
        found: dict[str, list[int]] = {}
        for row in rows:
            number, likeness = self._nearest(self._vector(_words(row.text)))
            if number is not None and likeness >= _SIMILAR:
                found.setdefault(self._name(number), []).append(row.index)
        return found

    def _join(self, index: int, counted: Counter[str]) -> None:
        vector = self._vector(counted)
        number, likeness = self._nearest(vector)
        if number is None or (likeness < _SIMILAR and len(self._founders) < MOST_TEXT_SLICES):
            self._founders.append(vector)
            self._members.append([(index, counted)])
            return
        self._members[number].append((index, counted))

    def _nearest(self, vector: Vector) -> tuple[int | None, float]:
        best: tuple[int | None, float] = (None, -1.0)
        for number, founder in enumerate(self._founders):
            likeness = sum(weight * founder.get(word, 0.0) for word, weight in vector.items())
            if likeness > best[1]:
                best = (number, likeness)
        return best

    def _vector(self, counted: Mapping[str, int]) -> Vector:
        weighed = {word: count * self._weight.get(word, 0.0) for word, count in counted.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values()))
        return {word: weight / length for word, weight in weighed.items()} if length else {}

    def _name(self, number: int) -> str:
        """Returns the words that rows of the slice have more often than other rows."""
        members = self._members[number]
        inside = Counter(word for _, counted in members for word in counted)
        everywhere = Counter(
            word for others in self._members for _, counted in others for word in counted
        )
        telling = sorted(
            inside,
            key=lambda word: (-(inside[word] ** 2 / everywhere[word]), -len(word), word),
        )
        return " ".join(telling[:_NAMED_BY]) or f"cluster {number + 1}"


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_QUOTED.sub(" ", text[:_READ]).lower()))
