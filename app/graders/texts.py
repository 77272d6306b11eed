"""Blocks, words and normal forms of long texts, and the scorers of texts."""

import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final, Literal

from app.graders.answer_words import pieces
from app.graders.scorer import GradeRequest, GraderErrors, ScoreResult, run_on_scoring_thread
from app.graders.templates import Unrenderable, parse_template, render_all

FENCE: Final = "```"
MAX_FENCES: Final = 10_000
_CLOSING_INDENT: Final = 3
"""Blanks by which a closing fence may be indented beyond its opening."""
_OPENING: Final = re.compile(
    r"(?P<before>(?:(?!```|~~~)[^\n])*+)(?P<fence>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)"
)
_MARK: Final = re.compile(r"```|~~~")

_JSON: Final = re.compile(r"\s*+[\[{]")
_TOKEN: Final = re.compile(
    r'[\s\w,:;.+\-]*+(?:"(?:[^"\\]|\\.)*+"|(?P<bracket>[\[\]{}]))', re.DOTALL
)
"""The next string or bracket of JSON; none outside a string where a mark begins, so that a text of
many broken blocks is read once."""


class TooManyFences(ValueError):
    def __init__(self) -> None:
        super().__init__(f"there are more than {MAX_FENCES} fences")


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    text: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class _Open:
    label: str
    fence: str
    indent: int
    start: int

    def last_code(self, line: str) -> str | None:
        blanks = len(line) - len(line.lstrip())
        if line[blanks:].startswith(self.fence) and blanks <= self.indent + _CLOSING_INDENT:
            return ""
        code = line.rstrip()
        before = code.rstrip(self.fence[0])
        if not before.strip() or len(code) - len(before) < len(self.fence):
            return None
        return f"{before}\n"

    def block(self, code: str) -> Block:
        if self.indent and code:
            cut = self.indent
            lines = (line[:cut].lstrip(" \t") + line[cut:] for line in code[:-1].split("\n"))
            code = "".join(f"{line}\n" for line in lines)
        return Block(self.label, code)


def fenced_blocks(text: str, *, with_open: bool = False) -> list[Block]:
    """Returns the fenced blocks of a Markdown text (CommonMark 0.31, section 4.5); the label is the
    first word of the info string. A block may be indented, begin after words, and end behind its
    last line of code. `with_open` adds a block that only the text's end closes.
    """
    found, block = list[Block](), None
    for start, end in _lines_with_marks(text):
        line = text[start:end]
        if block is None:
            block = _opened(line, end + 1)
        elif (last := block.last_code(line)) is not None:
            found.append(block.block(text[block.start : start] + last))
            block = None
    if block is not None and with_open:
        code = f"{text[block.start :]}\n" if block.start <= len(text) else ""
        found.append(block.block(code))
    return found


def check_fences(text: str) -> None:
    """Raises `TooManyFences`: each block holds the interpreter lock."""
    if text.count(FENCE) + text.count("~~~") > MAX_FENCES:
        raise TooManyFences


def _lines_with_marks(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while (mark := _MARK.search(text, position)) is not None:
        end = text.find("\n", mark.end())
        end = len(text) if end == -1 else end
        yield text.rfind("\n", 0, mark.start()) + 1, end
        position = end


def _opened(line: str, next_line: int) -> _Open | None:
    opening = _OPENING.fullmatch(line)
    if opening is None:
        return None
    before, words = opening["before"], opening["info"].split()
    if before.strip() and len(words) > 1:
        return None
    indent = len(before) - len(before.lstrip(" \t"))
    return _Open(words[0] if words else "", opening["fence"], indent, next_line)


def blocks(
    text: str, opening: str, opening_end: str, closing: str, *, whole_word: bool = False
) -> Iterator[Block]:
    """Yields the blocks `opening label opening_end … closing`; none without an end or inside
    another. With `whole_word`, `<tool` does not open `<tools>`, nor does a closing within leading
    JSON count.
    """
    position = 0 if closing in text else len(text)
    while (start := text.find(opening, position)) != -1:
        label_at = start + len(opening)
        label_end = text.find(opening_end, label_at)
        if label_end == -1:
            return
        body_at = label_end + len(opening_end)
        if whole_word and label_end > label_at and not text[label_at].isspace():
            position = body_at
            continue
        end = text.find(closing, _json_end(text, body_at))
        if end == -1:
            return
        position = end + len(closing)
        yield Block(text[label_at:label_end].strip(), text[body_at:end], start)


def _json_end(text: str, position: int) -> int:
    end, at, depth = position, position, 0
    if _JSON.match(text, position) is None:
        return position
    while depth >= 0 and (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        if token["bracket"] is not None:
            depth += 1 if token["bracket"] in "[{" else -1
        if not depth:
            end = at
    return end


NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]


def normalised_text(form: NormalForm, text: str) -> str:
    """Returns the normal form, in pieces: one call for a long text would stop all threads."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize(form, piece) for piece in pieces(text))


def length_normalised(form: NormalForm, text: str) -> int:
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
_END: Final = 0x40000


def words(text: str) -> list[str]:
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
    return f"[{''.join(f'{chr(a)}-{chr(b)}' for a, b in _runs(points))}]"


def _runs(points: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for point in points:
        if point != last + 1:
            if last >= 0:
                yield first, last
            first = point
        last = point
    if last >= 0:
        yield first, last


class LocalScorer:
    def __init__(self, grade: Callable[[GradeRequest], ScoreResult]) -> None:
        self._grade = grade

    async def score(self, request: GradeRequest) -> ScoreResult:
        return await run_on_scoring_thread(partial(self._timed, request))

    def _timed(self, request: GradeRequest) -> ScoreResult:
        started = time.perf_counter()
        try:
            result = self._grade(request)
        except Unrenderable as fault:
            result = fault.result
        return replace(result, execution_time_s=time.perf_counter() - started)


def text_scorer(
    compute: Callable[[list[str]], ScoreResult], *templates: str, source: str
) -> LocalScorer:
    parsed = list(map(parse_template, templates))
    return LocalScorer(lambda request: compute(render_all(parsed, request, source=source)))


def unreadable(reason: str) -> ScoreResult:
    return ScoreResult(0.0, GraderErrors(sample_parse_error=True, details=reason), reason=reason)
