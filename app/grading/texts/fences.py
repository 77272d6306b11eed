"""Finds delimited blocks of a text in time proportional to its length. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FENCE: Final = "```"


@dataclass(frozen=True, slots=True)
class Block:
    label: str
    """The text between the opening's start and its end, such as a language or a name."""
    text: str
    end: int
    """Position after the block."""


def fenced_blocks(text: str) -> list[Block]:
    """Returns the blocks of Markdown between two fences; the label is the language."""
    return list(blocks(text, FENCE, "\n", FENCE))


def blocks(text: str, opening: str, opening_end: str, closing: str) -> Iterator[Block]:
    """Yields the blocks `opening label opening_end … closing`, from left to right. A block without
    an end, or one that begins inside another, does not count.
    """
    position = 0
    while (start := text.find(opening, position)) != -1:
        label_at = start + len(opening)
        label_end = text.find(opening_end, label_at)
        if label_end == -1:
            return
        body_at = label_end + len(opening_end)
        end = text.find(closing, body_at)
        if end == -1:
            return
        position = end + len(closing)
        yield Block(text[label_at:label_end].strip(), text[body_at:end], position)
