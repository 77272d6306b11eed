"""Reads and rewrites the rows of a session's files, in a separate process (see `Inspections`).

The files are those of jobs that preflight has accepted. Rows have the numbers that rollouts use.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.coach.practice import practice_rows
from app.domain.coach.samples import PracticeRow, practice_row
from app.domain.coach.weaknesses import Slice, slices_of
from app.domain.data.chat_rows import is_blank

JsonRow = dict[str, Any]
_INSTRUCTIONS = ("system", "developer")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out rows: their number and their slices."""

    count: int
    slices: tuple[Slice, ...]


def held_out(path: Path) -> HeldOut:
    rows = _practice_rows(path)
    return HeldOut(len(rows), tuple(slices_of(rows)))


def rows_to_practise(training: Path, validation: Path, keys: tuple[str, ...]) -> list[JsonRow]:
    """Returns the training rows of some slices, with others for rehearsal."""
    wanted = set(
        practice_rows(keys, training=_practice_rows(training), held_out=_practice_rows(validation))
    )
    return [row for index, row in enumerate(_rows(training)) if index in wanted]


def prompted_rows(path: Path, prompt: str) -> list[JsonRow]:
    """Returns the rows with a system prompt in the place of their own."""
    return [_prompted(row, prompt) for row in _rows(path)]


def _prompted(row: JsonRow, prompt: str) -> JsonRow:
    messages = [*row["messages"]]
    while messages and messages[0].get("role") in _INSTRUCTIONS:
        messages.pop(0)
    return {**row, "messages": [{"role": "system", "content": prompt}, *messages]}


def _practice_rows(path: Path) -> list[PracticeRow]:
    return [practice_row(index, row) for index, row in enumerate(_rows(path))]


def _rows(path: Path) -> Iterator[JsonRow]:
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if not is_blank(line):
                yield json.loads(line.decode("utf-8" if number else "utf-8-sig"))
