"""Blocks in long texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FENCE: Final = "```"
MAX_FENCES: Final = 10_000
"""Largest number of fences of an answer, opening and closing ones."""
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
many broken blocks is read once and not once for each block.
"""


class TooManyFences(ValueError):
    """The text has more fences than `MAX_FENCES`."""

    def __init__(self) -> None:
        super().__init__(f"there are more than {MAX_FENCES} fences")


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    """The text between the opening's start and its end, such as a language or a name."""
    text: str
    start: int = 0
    """Position of a delimited block; fenced ones have none."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A block of which the opening is read."""

    label: str
    fence: str
    indent: int
    start: int
    """Position of the first line behind the opening."""

    def last_code(self, line: str) -> str | None:
        """Returns the code in front of the fence of a line that closes the block, `None` for
        another line.
        """
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
            code = "".join(f"{self._dedented(line)}\n" for line in code[:-1].split("\n"))
        return Block(self.label, code)

    def _dedented(self, line: str) -> str:
        return line[: self.indent].lstrip(" \t") + line[self.indent :]


def fenced_blocks(text: str, *, with_open: bool = False) -> list[Block]:
    """Returns the fenced blocks of a Markdown text (CommonMark 0.31, section 4.5), from left to
    right; the label is the first word of the info string. As models write them, a block may be
    indented by any width, begin after the words of a line, and end behind its last line of code.
    `with_open` adds a block that the text's end closes; without it, such a block does not count.
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
    """Raises `TooManyFences` for a text of the model whose blocks are too many to be read: each
    takes the interpreter lock for a while, and 64 parts of a grader may read the same text.
    """
    if text.count(FENCE) + text.count("~~~") > MAX_FENCES:
        raise TooManyFences


def _lines_with_marks(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each line that may open or close a block. The other lines, of which
    a long answer has many, are not looked at one by one.
    """
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
    """Yields the blocks `opening label opening_end … closing`, from left to right. A block without
    an end, or one that begins inside another, does not count. With `whole_word` an opening that is
    only the beginning of a longer word, as `<tool` is of `<tools>`, does not count either;
    nor does a closing within the JSON that a block begins with.
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
    """Returns the end of the JSON objects and lists in a row at a position, whose strings may hold
    any mark; the position itself where there are none.
    """
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
