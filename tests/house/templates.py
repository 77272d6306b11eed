"""Reads the text that a reader of a page sees from its template."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Final

from typing_extensions import override

_TAG: Final = re.compile(r"\{[%#].*?[%#]\}", re.DOTALL)
_VALUE: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SHOWN: Final = frozenset({"title", "alt", "placeholder", "aria-label"})
"""Attributes whose values people read."""
_HIDDEN: Final = frozenset({"script", "style"})


def visible_texts(template: str) -> Iterator[tuple[int, str]]:
    """Yields each text with its line; a value of the template stands as `…`."""
    page = _Page()
    page.feed(_VALUE.sub(_with_lines("…"), _TAG.sub(_with_lines(""), template)))
    page.close()
    yield from page.texts


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self._hidden = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        for name, value in attrs:
            if name in _SHOWN and value:
                self._add(value)

    @override
    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN

    @override
    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._add(data)

    def _add(self, text: str) -> None:
        if text.strip():
            self.texts.append((self.getpos()[0], " ".join(text.split())))


def _with_lines(text: str) -> Callable[[re.Match[str]], str]:
    """Returns a replacement that keeps the line breaks, so that lines still count."""
    return lambda found: text + "\n" * found[0].count("\n")
