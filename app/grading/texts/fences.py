"""Finds delimited blocks of a text in time proportional to its length. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

FENCE: Final = "```"
_CLOSING_INDENT: Final = 3
"""Blanks by which a closing fence may be indented beyond its opening."""
_OPENING: Final = re.compile(
    r"(?P<before>(?:(?!```|~~~)[^\n])*+)(?P<fence>`{3,}+|~{3,}+)(?P<info>[^`\n]*+)"
)

_JSON: Final = re.compile(r"\s*+[\[{]")
_TOKEN: Final = re.compile(
    r'[\s\w,:;.+\-]*+(?:"(?:[^"\\]|\\.)*+"|(?P<bracket>[\[\]{}]))', re.DOTALL
)
"""The next string or bracket of JSON; none outside a string where a mark begins, so that a text of
many broken blocks is read once and not once for each block.
"""


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    """The text between the opening's start and its end, such as a language or a name."""
    text: str
    start: int = 0
    """Position of a delimited block; fenced ones have none."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A block of which the opening and perhaps some lines are read."""

    label: str
    fence: str
    indent: int
    lines: list[str] = field(default_factory=list)

    def take(self, line: str) -> Block | None:
        """Adds a line; returns the block if the line closes it."""
        blanks = len(line) - len(line.lstrip())
        if line[blanks:].startswith(self.fence) and blanks <= self.indent + _CLOSING_INDENT:
            return self.block()
        code = line.rstrip()
        before = code.rstrip(self.fence[0])
        if not before.strip() or len(code) - len(before) < len(self.fence):
            self.lines.append(self._dedented(line))
            return None
        self.lines.append(self._dedented(before))
        return self.block()

    def block(self) -> Block:
        return Block(self.label, "".join(f"{line}\n" for line in self.lines))

    def _dedented(self, line: str) -> str:
        blanks = len(line) - len(line.lstrip(" \t"))
        return line[min(blanks, self.indent) :]


def fenced_blocks(text: str, *, with_open: bool = False) -> list[Block]:
    """Returns the fenced blocks of a Markdown text (CommonMark 0.31, section 4.5), from left to
    right; the label is the first word of the info string. As models write them, a block may be
    indented by any width, begin after the words of a line, and end behind its last line of code.
    `with_open` adds a block that the text's end closes; without it, such a block does not count.
    """
    found, block = list[Block](), None
    for line in text.split("\n") if FENCE in text or "~~~" in text else ():
        if block is None:
            block = _opened(line)
        elif (closed := block.take(line)) is not None:
            found.append(closed)
            block = None
    return [*found, block.block()] if block is not None and with_open else found


def _opened(line: str) -> _Open | None:
    opening = _OPENING.fullmatch(line)
    if opening is None:
        return None
    before, words = opening["before"], opening["info"].split()
    if before.strip() and len(words) > 1:
        return None
    return _Open(
        words[0] if words else "", opening["fence"], len(before) - len(before.lstrip(" \t"))
    )


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
