"""Terminal output shared by all commands: envelopes, tables and notes."""

import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from app.cli.replies import Reply
from app.cli.terminal import printable
from app.kit.errors import AgentRftError

ENVELOPE_VERSION: Final = 1
_NO_ERROR: Final = dict.fromkeys(("message", "type", "param", "code", "status"))
"""The keys of every error: those of the service's error object, and the status of its answer."""
_WIDE: Final = 10_000
"""Columns of an output that is not a terminal; its lines are not cut."""
_CONTINUED: Final = " " * 4


@dataclass(frozen=True, slots=True)
class Output:
    command: str
    as_json: bool

    def line(self, data: Any, text: str, *, has_more: bool = False) -> None:
        self.result(data, lambda: print(printable(text), flush=True), has_more=has_more)

    def lines(self, data: Any, lines: Sequence[str]) -> None:
        self.result(data, lambda: console().print(*map(Text, map(printable, lines)), sep="\n"))

    def fields(self, reply: Reply, pairs: Iterable[tuple[str, object]]) -> None:
        shown = list(pairs)
        self.result(reply.data, lambda: console().print(fields(shown)))

    def table(
        self,
        rows: list[dict[str, Any]],
        header: Sequence[str],
        cells: Callable[[Reply], Sequence[object]],
        *,
        has_more: bool = False,
    ) -> None:
        shown = [cells(Reply(row)) for row in rows]
        self.result(rows, lambda: console().print(columns(header, shown)), has_more=has_more)

    def result(self, data: Any, show: Callable[[], None], *, has_more: bool = False) -> None:
        if self.as_json:
            self._envelope(data=data, has_more=has_more, error=None)
        else:
            show()

    @contextmanager
    def failures(self) -> Iterator[None]:
        try:
            yield
        except AgentRftError as failure:
            if self.as_json:
                error = {"message": str(failure), **getattr(failure, "error", {})}
                self._envelope(data=None, has_more=False, error={**_NO_ERROR, **error})
            raise

    def _envelope(self, **values: Any) -> None:
        envelope = {"version": ENVELOPE_VERSION, "command": self.command, **values}
        print(json.dumps(envelope), flush=True)  # ASCII: no text in it reaches a terminal raw


def console() -> Console:
    """Returns standard output; it reads no markup, so no text of the service becomes a style."""
    wide = None if sys.stdout.isatty() else _WIDE
    return Console(
        file=sys.stdout, width=wide, markup=False, highlight=False, emoji=False, soft_wrap=False
    )


def note(text: str) -> None:
    print(f"agent-rft: {printable(text)}", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Lines:
    """Wraps lines and indents their continuation, so that no text begins a line by its length."""

    lines: Sequence[str]
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = max(1, options.max_width - len(_CONTINUED))
        for line in self.lines:
            first, *rest = Text(line, self.style).wrap(console, width, overflow="fold") or [Text()]
            yield first
            for piece in rest:
                yield Text(_CONTINUED, self.style) + piece


@dataclass(frozen=True, slots=True)
class _TrimmedTable:
    """A table whose lines end with their last letter, not with the blanks of the last column."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in console.render_lines(self.table, options, pad=False):
            while line and not line[-1].text.rstrip():
                line.pop()
            yield from line[:-1]
            if line:
                last = line[-1]
                yield Segment(last.text.rstrip(), last.style, last.control)
            yield Segment.line()


def columns(header: Sequence[str], rows: Iterable[Sequence[object]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for name in header:
        table.add_column(Text(printable(name)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell_text(cell)) for cell in row))
    return _TrimmedTable(table)


def fields(pairs: Iterable[tuple[str, object]]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(printable(name)), Text(cell_text(value)))
    return _TrimmedTable(table)


def cell_text(value: object) -> str:
    match value:
        case None:
            return "-"
        case str():
            return printable(value)
        case float():
            return f"{value:.4g}"
        case dict() | list():
            return printable(json.dumps(value, ensure_ascii=False))
        case _:
            return printable(str(value))


Points = Sequence[tuple[int, float]]
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_FULL: Final = len(_BLOCKS) - 1
_SCALE: Final = 10


def chart(series: Mapping[str, Points], *, width: int, height: int) -> str:
    """Returns `height` lines for each curve; all share the steps, each has a scale of its own."""
    drawn = {label: sorted(points) for label, points in series.items() if points}
    steps = [step for points in drawn.values() for step, _ in points]
    lines = []
    for label, points in drawn.items():
        lines.append(printable(label))
        lines += _columns(points, min(steps), max(steps), width=width - _SCALE - 2, height=height)
    if drawn:
        lines.append(f"{'step':>{_SCALE}}  {min(steps)} to {max(steps)}")
    return "\n".join(lines)


def _columns(points: Points, first: int, last: int, *, width: int, height: int) -> list[str]:
    values = [value for _, value in points]
    low, high = min(values), max(values)
    levels = [_level(one, low, high, height * _FULL) for one in _spread(points, first, last, width)]
    lines = []
    for row in reversed(range(height)):
        number = {height - 1: f"{high:.4g}", 0: f"{low:.4g}"}.get(row, "")
        cells = (_BLOCKS[min(max(level - row * _FULL, 0), _FULL)] for level in levels)
        lines.append(f"{number:>{_SCALE}} │{''.join(cells)}".rstrip())
    return lines


def _spread(points: Points, first: int, last: int, width: int) -> list[float | None]:
    """Returns the newest value at each column's step; `None` before the first."""
    steps = [step for step, _ in points]
    found: list[float | None] = []
    for column in range(width):
        at = bisect_right(steps, first + (last - first) * column / max(width - 1, 1))
        found.append(points[at - 1][1] if at else None)
    return found


def _level(value: float | None, low: float, high: float, top: int) -> int:
    """Returns the height of a column in eighths of a line: 1 for the lowest value."""
    if value is None:
        return 0
    return top // 2 if high == low else 1 + round((value - low) / (high - low) * (top - 1))
