"""Reads the lines of a JSON Lines file in bounded memory."""

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, BinaryIO, Final, assert_never

from app.files.datasets import Prompts, inspect_row, prompt_messages
from app.files.division import has_unread_difficulty
from app.files.rows import MAX_ROW_BYTES, DatasetError, is_blank
from app.jobs.preflight import InspectionRequest, TokenLengths
from app.jobs.row_tries import NO_NEEDS, RowFaults, RowNeeds
from app.jobs.supervised import MethodType, TrainOn
from app.kit.errors import InvalidRequest, IssueSeverity, PreflightIssue
from app.models.chat import NO_ROOM_CURE, fills_context, full_context
from app.models.models import BaseModelSpec
from app.rollouts.chat_template import Message
from app.rollouts.renderer import Renderer


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yields number and bytes of each line; a line over the limit is cut just above it."""
    number = 0
    while line := file.readline(MAX_ROW_BYTES + 2):
        number += 1
        rest = line
        while len(rest) == MAX_ROW_BYTES + 2 and not rest.endswith(b"\n"):
            rest = file.readline(MAX_ROW_BYTES + 2)
        yield number, line


MAX_ISSUES: Final = 100
_SHOWN_LINES_FILES: Final = 5
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
            if fault.line not in lines and len(lines) <= _SHOWN_LINES_FILES:
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
    shown = ", ".join(map(str, lines[:_SHOWN_LINES_FILES]))
    more = ", …" if len(lines) > _SHOWN_LINES_FILES else ""
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


def row_reader(
    method: MethodType, job_tools: frozenset[str] | None, train_on: TrainOn = "all"
) -> RowReader:
    """Returns the reader of a method's rows; `job_tools` and `train_on` as in `inspect_row`."""

    def read_row(line: bytes, number: int) -> tuple[RowPrompt | None, list[DatasetError]]:
        item, faults = inspect_row(method, line, number, job_tools=job_tools, train_on=train_on)
        return (None if item is None else _prompt(method, item)), faults

    return read_row


def _prompt(method: MethodType, item: dict[str, Any]) -> RowPrompt:
    match method:
        case "reinforcement" | "supervised":
            offering = item
        case "dpo":
            offering = item["input"]
        case _:
            assert_never(method)
    return RowPrompt(prompt_messages(method, item), offering.get("tools") or [], item)


_SHOWN_LINES = 5
PROMPT_EXCEEDS_CONTEXT = "prompt_exceeds_context"

Lengths = dict[int, int]
"""Tokens of each measured prompt by its line."""


def prompt_lengths(renderer: Renderer, file: ReadFile) -> Lengths:
    """Returns the lengths of the sampled prompts that the template renders."""
    lengths: Lengths = {}
    for line, prompt in file.sampled.items():
        try:
            lengths[line] = len(renderer.prompt_ids(prompt.messages, prompt.tools))
        except InvalidRequest:
            continue
    return lengths


def token_lengths(by_line: Lengths, base: BaseModelSpec) -> TokenLengths | None:
    if not by_line:
        return None
    lengths = sorted(by_line.values())

    def percentile(share: float) -> int:
        return lengths[min(len(lengths) - 1, round(share * (len(lengths) - 1)))]

    return TokenLengths(
        measured_rows=len(lengths),
        mean=round(fmean(lengths), 1),
        p50=percentile(0.5),
        p90=percentile(0.9),
        p99=percentile(0.99),
        max=lengths[-1],
        context_length=base.context_length,
        over_context=sum(fills_context(length, base.context_length) for length in lengths),
    )


def length_issues(
    request: InspectionRequest, param: str, by_line: Lengths, base: BaseModelSpec
) -> Iterator[PreflightIssue]:
    full = [line for line, length in by_line.items() if fills_context(length, base.context_length)]
    if not full:
        return
    share = request.no_room_share if param == "validation_file" else 1.0
    ends = request.no_room_share is not None and len(full) >= (share or 1.0) * len(by_line)
    severity: IssueSeverity = "error" if ends else "warning"
    shown = ", ".join(map(str, full[:_SHOWN_LINES])) + (", …" if len(full) > _SHOWN_LINES else "")
    message = (
        f"{len(full)} of {len(by_line)} measured prompts "
        f"{full_context(base.context_length, max(by_line.values()))}: lines {shown}. That leaves "
        f"no token for an answer. {NO_ROOM_CURE}."
    )
    yield PreflightIssue(severity, PROMPT_EXCEEDS_CONTEXT, message, param, full[0])
