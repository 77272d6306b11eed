"""Normalises long texts in pieces, so that the interpreter lock is released between them."""

import re
import time
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Final, Generic, Literal, TypeVar, final

from typing_extensions import override

from app.graders.answer_words import pieces
from app.graders.scorer import GradeRequest, GraderErrors, ScoreResult, run_on_scoring_thread
from app.graders.templates import parse_template
from app.graders.templating import Unrenderable, render_all

_Spec = TypeVar("_Spec")
NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalised_text(form: NormalForm, text: str) -> str:
    """Returns the normal form. Other threads run between the pieces: one call for four million
    characters would stop them for half a second.
    """
    if text.isascii():
        return text
    return "".join(unicodedata.normalize(form, piece) for piece in pieces(text))


def length_normalised(form: NormalForm, text: str) -> int:
    """Returns the sum of the characters' lengths in a normal form."""
    counts = Counter[str]()
    for piece in pieces(text):
        counts.update(piece)
    return sum(times * len(unicodedata.normalize(form, each)) for each, times in counts.items())


_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_UNSPACED: Final = (
    range(0x0E00, 0x0F00),  # Thai, Lao
    range(0x1000, 0x10A0),  # Myanmar
    range(0x1780, 0x1800),  # Khmer
    range(0x3040, 0x3100),  # Hiragana, Katakana
    range(0x31F0, 0x3200),  # Katakana, extended
    range(0x3400, 0xA000),  # Han
    range(0xF900, 0xFB00),  # Han, compatible forms
    range(0x20000, 0x40000),  # Han, further planes
)
"""Code points of scripts without blanks between words."""
_END: Final = 0x40000
"""Code point beyond which there are no letters."""


def words(text: str) -> list[str]:
    """Returns the words in order, in lower case."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _any_word().findall(normalised_text("NFC", text.lower()))


@cache
def _any_word() -> re.Pattern[str]:
    marks, alone, joined = list[int](), list[int](), list[int]()
    for point in range(_END):
        match unicodedata.category(chr(point))[0]:
            case "M":
                marks.append(point)
            case "L" | "N":
                (alone if any(point in script for script in _UNSPACED) else joined).append(point)
            case _:
                pass
    return re.compile(f"{_class(alone)}{_class(marks)}*|{_class(sorted(joined + marks))}+")


def _class(points: Iterable[int]) -> str:
    """Returns the pattern of these characters, given in order."""
    return f"[{''.join(f'{chr(a)}-{chr(b)}' for a, b in _runs(points))}]"


def _runs(points: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yields the first and the last of each run of successive numbers."""
    first = last = -1
    for point in points:
        if point != last + 1:
            if last >= 0:
                yield first, last
            first = point
        last = point
    if last >= 0:
        yield first, last


class LocalScorer(ABC):
    """Implements `Scorer`."""

    @final
    async def score(self, request: GradeRequest) -> ScoreResult:
        return await run_on_scoring_thread(partial(self._timed, request))

    def _timed(self, request: GradeRequest) -> ScoreResult:
        started = time.perf_counter()
        try:
            result = self.grade(request)
        except Unrenderable as fault:
            result = fault.result
        return replace(result, execution_time_s=time.perf_counter() - started)

    @abstractmethod
    def grade(self, request: GradeRequest) -> ScoreResult:
        """Returns the score of one sample. Raises `Unrenderable` or `ScoreFault`."""


class TextScorer(LocalScorer, Generic[_Spec]):
    def __init__(self, spec: _Spec, templates: Sequence[str], *, source: str) -> None:
        self._spec = spec
        self._templates = [parse_template(template) for template in templates]
        self._source = source

    @final
    @override
    def grade(self, request: GradeRequest) -> ScoreResult:
        return self.compute(render_all(self._templates, request, source=self._source))

    @abstractmethod
    def compute(self, texts: list[str]) -> ScoreResult:
        """Returns the score of the rendered texts, in the order of the templates. Raises
        `Unrenderable` or `ScoreFault`.
        """


def unreadable(reason: str) -> ScoreResult:
    """Returns the score of a sample that is not in the form that the grader reads."""
    return ScoreResult(0.0, GraderErrors(sample_parse_error=True, details=reason), reason=reason)
