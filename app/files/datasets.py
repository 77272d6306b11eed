"""Row formats by method, and the check of one line: the same for API, command line and worker."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, assert_never, get_args

from app.files.rows import (
    DatasetError,
    Fault,
    is_blank,
    load_line,
    preference_row_faults,
    reinforcement_row_faults,
    supervised_row_faults,
)
from app.jobs.reinforcement import RUNS_CALLS
from app.jobs.supervised import MethodType, TrainOn
from app.kit.errors import InvalidRequest
from app.kit.fields import DescribedFields


def check_row(
    method: MethodType, line: bytes, number: int, *, job_tools: AbstractSet[str] | None = None
) -> dict[str, Any]:
    item = load_line(line, number)
    for pointer, message in _faults(method, item, job_tools):
        raise DatasetError(number, pointer, message)
    return item


def inspect_row(
    method: MethodType,
    line: bytes,
    number: int,
    *,
    job_tools: AbstractSet[str] | None = None,
    train_on: TrainOn = "all",
) -> tuple[dict[str, Any] | None, list[DatasetError]]:
    try:
        item = load_line(line, number)
    except DatasetError as error:
        return None, [error]
    faults = [
        DatasetError(number, pointer, message)
        for pointer, message in _faults(method, item, job_tools, train_on)
    ]
    return (None if faults else item), faults


def refuse_unreadable(rows: Sequence[dict[str, Any]], param: str) -> None:
    """Raises `InvalidRequest` at a row that no job can read, by the method that reads most."""
    methods: tuple[MethodType, ...] = get_args(MethodType)
    at, pointer, message = 0, "", ""
    for method in reversed(methods):  # where two are equal, a reinforcement job's fault is named
        first = next(
            (
                (number, *fault)
                for number, row in enumerate(rows)
                for fault in _faults(method, row, None)
            ),
            None,
        )
        if first is None:
            return
        if not message or first[0] > at:
            at, pointer, message = first
    raise InvalidRequest(
        f"No job can read this row, and so none of the {len(rows)}. {pointer or '/'}: {message}.",
        param=f"{param}[{at}]",
        code="invalid_value",
    )


def prompt_messages(method: MethodType, item: dict[str, Any]) -> list[dict[str, Any]]:
    match method:
        case "reinforcement" | "supervised":
            messages: list[dict[str, Any]] = item["messages"]
            return messages
        case "dpo":
            return [*item["input"]["messages"], *item["preferred_output"]]
        case _:
            assert_never(method)


def _faults(
    method: MethodType,
    item: dict[str, Any],
    job_tools: AbstractSet[str] | None,
    train_on: TrainOn = "all",
) -> Iterator[Fault]:
    match method:
        case "supervised":
            return supervised_row_faults(item, train_on)
        case "dpo":
            return preference_row_faults(item)
        case "reinforcement":
            return reinforcement_row_faults(item, job_tools)
        case _:
            assert_never(method)


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
    first_lines: dict[bytes, int] = field(default_factory=dict)
    rows: Counter[bytes] = field(default_factory=Counter)
    repeats: int = 0
    repeated_lines: list[tuple[int, int]] = field(default_factory=list)
    """The first of them: (earlier line, repeated line)."""

    def see(self, messages: Sequence[dict[str, Any]], line: int) -> None:
        text = json.dumps(messages, sort_keys=True, separators=(",", ":"))
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        self.rows[digest] += 1
        first = self.first_lines.setdefault(digest, line)
        if first != line:
            self.repeats += 1
            if len(self.repeated_lines) < MAX_EXAMPLES:
                self.repeated_lines.append((first, line))

    def overlap(self, held_out: "Prompts") -> Overlap:
        shared = [digest for digest in held_out.first_lines if digest in self.first_lines]
        first, held = self.first_lines, held_out.first_lines
        return Overlap(
            rows=sum(held_out.rows[digest] for digest in shared),
            lines=tuple((first[digest], held[digest]) for digest in shared[:MAX_EXAMPLES]),
        )


TOOLS_NOT_RUN: Final = (
    "Rows offer tools to the model, and the job runs no call: each rollout ends with its first "
    "turn, whose calls are graded as sample.output_tools. To run them, send "
    f"{RUNS_CALLS} in method.reinforcement."
)


@dataclass(frozen=True, slots=True)
class DatasetRow:
    index: int
    """Position among the file's rows, from 0: the `prompt_index` of its rollouts."""
    messages: list[dict[str, Any]]
    """The conversation up to the user's last message, in Chat Completions form."""
    tools: list[dict[str, Any]]
    item: dict[str, Any]

    @property
    def one_call(self) -> bool:
        """True if a turn makes its first call alone, as in a chat with the same option."""
        return self.item.get("parallel_tool_calls") is False


def grader_item(item: dict[str, Any]) -> dict[str, Any]:
    """Returns the row as `item` of a grader; the keys that graders rely on are always present."""
    messages = [
        message if "name" in message else {"name": None, **message}
        for message in item.get("messages", ())
    ]
    extras = {key: value for key, value in item.items() if key not in {"messages", "tools"}}
    return {"messages": messages, "tools": item.get("tools"), "parallel_tool_calls": True, **extras}


def parse_rows(
    lines: Iterable[bytes], job_tools: AbstractSet[str] | None, max_rows: int
) -> list[DatasetRow]:
    return list(each_row(lines, job_tools, max_rows))


def each_row(
    lines: Iterable[bytes], job_tools: AbstractSet[str] | None, max_rows: int
) -> Iterator[DatasetRow]:
    index = 0
    for number, line in enumerate(lines, start=1):
        if is_blank(line):
            continue
        if index == max_rows:
            raise DatasetError(number, "", f"the file has more than {max_rows} examples")
        yield parse_row(line, number, index=index, job_tools=job_tools)
        index += 1


def parse_row(
    line: bytes, number: int, *, index: int, job_tools: AbstractSet[str] | None
) -> DatasetRow:
    item = load_line(line, number)
    for pointer, message in reinforcement_row_faults(item, job_tools):
        raise DatasetError(number, pointer, message)
    return DatasetRow(
        index=index, messages=item["messages"], tools=item.get("tools") or [], item=item
    )
