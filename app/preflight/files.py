"""Reads one dataset file: every fault, repeated prompts, and a sample of rows to measure.

Owns the pass over the bytes, in bounded memory: a digest for each row, and the sample. Must not
know tokens, jobs or the source of the file.
"""

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from app.domain.data.chat_rows import DatasetError, is_blank
from app.domain.data.prompts import Prompts
from app.domain.data.row_difficulty import has_unread_difficulty
from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.row_needs import NO_NEEDS, RowFaults, RowNeeds
from app.rendering.chat_template import Message
from app.tables.json_lines import lines_of

MAX_ISSUES: Final = 100
_SHOWN_LINES: Final = 5
_INDEX: Final = re.compile(r"/[0-9]+(?=/|$)", re.ASCII)
"""An index in a JSON pointer: the same fault may be in the first message and in the second one."""
_EVEN_SAMPLE: Final = 2000
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class RowPrompt:
    """The prompt of a row, and the row as written in the file."""

    messages: list[Message]
    tools: list[Message]
    item: dict[str, Any]


RowReader = Callable[[bytes, int], tuple[RowPrompt | None, list[DatasetError]]]
"""Reads a line with its number: returns the row's prompt, `None` for an unusable row, and all of
its faults.
"""


@dataclass(frozen=True, slots=True)
class FileRules:
    """Rules for reading a file of a job; issues contain its `param` and `code`."""

    param: str
    code: str
    read_row: RowReader
    min_rows: int
    max_rows: int
    needs: RowNeeds = NO_NEEDS
    """Requirements of the graders for every row."""


@dataclass(slots=True)
class ReadFile:
    rows: int = 0
    faulty_rows: int = 0
    issues: list[PreflightIssue] = field(default_factory=list)
    prompts: Prompts = field(default_factory=Prompts)
    tools: Counter[str] = field(default_factory=Counter)
    unread_difficulties: int = 0
    """Rows whose difficulty no ordering reads."""
    first_unread_difficulty: int | None = None
    """Line of the first of them."""
    sampled: dict[int, RowPrompt] = field(default_factory=dict)
    """Prompts to measure by line number: an even sample and the longest rows."""

    def offer_on_every_row(self, tools: Sequence[dict[str, Any]]) -> None:
        """Adds tools to the prompts that are measured, after each row's own."""
        self.sampled = {
            line: replace(prompt, tools=[*prompt.tools, *tools])
            for line, prompt in self.sampled.items()
        }


def read_file(path: Path, rules: FileRules) -> ReadFile:
    """Reads the whole file once. Equal faults are one issue; past the first 100 of them, faults are
    only counted.
    """
    result, unmet, equal = ReadFile(), RowFaults(rules.needs), _EqualFaults()
    sampler = _RowSampler()
    with path.open("rb") as file:
        for number, line in lines_of(file):
            if is_blank(line):
                continue
            result.rows += 1
            if result.rows > rules.max_rows:
                continue
            prompt, faults = rules.read_row(line, number)
            if prompt is None:
                result.faulty_rows += 1
                equal.see(faults)
                continue
            result.tools.update(str(tool["function"]["name"]) for tool in prompt.tools)
            result.prompts.see(prompt.messages, number)
            unmet.see(prompt.item, number)
            if has_unread_difficulty(prompt.item):
                result.unread_difficulties += 1
                result.first_unread_difficulty = result.first_unread_difficulty or number
            sampler.offer(number, prompt, size=len(line))
    result.sampled = sampler.prompts()
    result.issues += equal.issues(rules)
    result.issues += _count_issues(result, rules, unlisted=equal.unlisted)
    result.issues += [
        PreflightIssue("error", fault.code, fault.message, fault.param, fault.line)
        for fault in unmet.found(rules.param.removesuffix("_file"))
    ]
    return result


class _EqualFaults:
    """Groups the faults of rows: those with one message, at one place of their rows."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], DatasetError] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lines: dict[tuple[str, str], list[int]] = {}
        self.unlisted = 0
        """Faults of further groups."""

    def see(self, faults: Sequence[DatasetError]) -> None:
        for fault in faults:
            key = (_INDEX.sub("/*", fault.pointer), fault.message)
            if key not in self._first and len(self._first) == MAX_ISSUES:
                self.unlisted += 1
                continue
            self._first.setdefault(key, fault)
            self._counts[key] += 1
            lines = self._lines.setdefault(key, [])
            if fault.line not in lines and len(lines) <= _SHOWN_LINES:
                lines.append(fault.line)

    def issues(self, rules: FileRules) -> Iterator[PreflightIssue]:
        """Yields an issue for each group, at the place of its first fault."""
        for key, fault in self._first.items():
            yield PreflightIssue(
                severity="error",
                code=rules.code,
                message=f"{fault}{_repeated(self._counts[key], self._lines[key])}",
                param=rules.param,
                line=fault.line,
                pointer=fault.pointer,
            )


def _repeated(count: int, lines: Sequence[int]) -> str:
    """Returns the number of equal faults and their first lines; nothing for a single one."""
    if count == 1:
        return ""
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    more = ", …" if len(lines) > _SHOWN_LINES else ""
    noun = "line" if len(lines) == 1 else "lines"
    return f" ({count} times, {noun} {shown}{more})"


def _count_issues(result: ReadFile, rules: FileRules, *, unlisted: int) -> Iterator[PreflightIssue]:
    label = rules.param.replace("_", " ").capitalize()
    if unlisted > 0:
        message = f"{unlisted} more faults, in {result.faulty_rows} faulty rows altogether."
        yield PreflightIssue("error", rules.code, message, rules.param)
    if result.rows < rules.min_rows:
        message = (
            f"{label} has {result.rows} example(s), but must have at least {rules.min_rows} "
            "examples"
        )
        yield PreflightIssue("error", "invalid_n_examples", message, rules.param)
    if result.rows > rules.max_rows:
        message = f"{label} has {result.rows} examples, but may have at most {rules.max_rows}"
        yield PreflightIssue("error", rules.code, message, rules.param)
    if result.prompts.repeats:
        message = f"{result.prompts.repeats} rows of the {label.lower()} repeat an earlier prompt."
        yield PreflightIssue("warning", "duplicate_rows", message, rules.param)


class _RowSampler:
    """Samples every row of a small file, or an even sample and the longest rows of a large one.

    The sample takes every n-th row and doubles n whenever it is full, so it is even over a file
    whose length is not known beforehand.
    """

    def __init__(self) -> None:
        self._stride = 1
        self._seen = 0
        self._even: dict[int, tuple[int, RowPrompt]] = {}
        self._longest: list[tuple[int, int]] = []
        self._long: dict[int, RowPrompt] = {}

    def offer(self, number: int, prompt: RowPrompt, *, size: int) -> None:
        if self._seen % self._stride == 0:
            self._even[number] = (self._seen, prompt)
        self._seen += 1
        if len(self._even) > _EVEN_SAMPLE:
            self._stride *= 2
            self._even = {n: row for n, row in self._even.items() if row[0] % self._stride == 0}
        heapq.heappush(self._longest, (size, number))
        self._long[number] = prompt
        if len(self._longest) > _LONGEST:
            del self._long[heapq.heappop(self._longest)[1]]

    def prompts(self) -> dict[int, RowPrompt]:
        even = {number: prompt for number, (_, prompt) in self._even.items()}
        return dict(sorted({**even, **self._long}.items()))
