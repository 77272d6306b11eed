"""Finds repeated prompts in a job's files, and held-out rows that are trained on too.

Owns the rule for equal rows: their messages are equal JSON, whatever the order of keys and the
white space. Near-duplicates are not found. Pure; keeps a digest of each prompt, so that a large
file needs little memory.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.documents.described import DescribedFields

MAX_EXAMPLES: Final = 20
_SHOWN: Final = 5
OVERLAPPING_ROWS: Final = "overlapping_rows"


@dataclass(frozen=True, slots=True)
class Overlap(DescribedFields):
    """Validation rows whose messages are in the training file too, so that they measure
    memorisation.
    """

    rows: int
    """Number of such rows."""
    lines: tuple[tuple[int, int], ...]
    """The first of them: (training line, validation line)."""

    @property
    def warning(self) -> str:
        """Returns a warning with the number of rows, the first ones, and the correction."""
        shown = ", ".join(f"line {held} is line {line}" for line, held in self.lines[:_SHOWN])
        more = ", …" if self.rows > _SHOWN else ""
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        return (
            f"{rows} of the validation file are in the training file too ({shown}{more} "
            "of the training file): what is measured on them is memory. Take them out of one of "
            "the files. Rows are the same when their messages are the same JSON; near-duplicates "
            "are not looked for."
        )


@dataclass(slots=True)
class Prompts:
    """The prompts of one file, by their digest."""

    first_lines: dict[bytes, int] = field(default_factory=dict)
    rows: Counter[bytes] = field(default_factory=Counter)
    """Rows with each prompt."""
    repeats: int = 0
    """Rows that repeat an earlier prompt."""
    repeated_lines: list[tuple[int, int]] = field(default_factory=list)
    """The first of them: (earlier line, repeated line)."""

    def see(self, messages: Sequence[dict[str, Any]], line: int) -> None:
        """Counts the prompt of the row on `line` (from 1)."""
        digest = _digest(messages)
        self.rows[digest] += 1
        first = self.first_lines.setdefault(digest, line)
        if first != line:
            self.repeats += 1
            if len(self.repeated_lines) < MAX_EXAMPLES:
                self.repeated_lines.append((first, line))

    def overlap(self, held_out: "Prompts") -> Overlap:
        """Returns the rows of a validation file that are in this training file too."""
        shared = [digest for digest in held_out.first_lines if digest in self.first_lines]
        first, held = self.first_lines, held_out.first_lines
        return Overlap(
            rows=sum(held_out.rows[digest] for digest in shared),
            lines=tuple((first[digest], held[digest]) for digest in shared[:MAX_EXAMPLES]),
        )


def _digest(messages: Sequence[dict[str, Any]]) -> bytes:
    text = json.dumps(messages, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
