"""Checks the rows of a reinforcement job's files; names a fault by its line and JSON pointer.

Owns the row format of the hosted reinforcement data set (`messages`, `tools`, any other key is the
grader's). Pure, so that API, command line and worker give the same answer. Must not know files.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from app.domain.data.chat_rows import (
    MAX_ROW_BYTES,
    DatasetError,
    Fault,
    is_blank,
    load_line,
    messages_faults,
    tools_faults,
)
from app.domain.methods.reinforcement import RUNS_CALLS

__all__ = [
    "MAX_ROW_BYTES",
    "TOOLS_NOT_RUN",
    "DatasetError",
    "DatasetRow",
    "each_row",
    "grader_item",
    "parse_row",
    "parse_rows",
    "row_faults",
]

TOOLS_NOT_RUN: Final = (
    "Rows offer tools to the model, and the job runs no call: each rollout ends with its first "
    "turn, whose calls are graded as sample.output_tools. To run them, send "
    f"{RUNS_CALLS} in method.reinforcement."
)
"""Warning about a job that runs no calls although its rows offer tools."""


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One example."""

    index: int
    """Position among the file's rows, from 0: the `prompt_index` of its rollouts."""
    messages: list[dict[str, Any]]
    """The conversation up to the user's last message, in Chat Completions form."""
    tools: list[dict[str, Any]]
    """Function schemas offered on this row, in Chat Completions form."""
    item: dict[str, Any]
    """The whole row, as graders see it."""


def grader_item(item: dict[str, Any]) -> dict[str, Any]:
    """Returns the whole row as `item` of a grader; the keys that graders rely on are always
    present.
    """
    messages = [
        message if "name" in message else {"name": None, **message}
        for message in item.get("messages", ())
    ]
    extras = {key: value for key, value in item.items() if key not in {"messages", "tools"}}
    return {
        "messages": messages,
        "tools": item.get("tools"),
        "parallel_tool_calls": True,
        **extras,
    }


def parse_rows(
    lines: Iterable[bytes], job_tools: AbstractSet[str] | None, max_rows: int
) -> list[DatasetRow]:
    """Returns every row of a file; blank lines are skipped. Raises `DatasetError` at the first
    fault.

    `job_tools` are the names registered with the job: a row that offers another tool is faulty,
    because no endpoint answers its calls. `None` for a job that runs no tool: rows may offer any.
    """
    return list(each_row(lines, job_tools, max_rows))


def each_row(
    lines: Iterable[bytes], job_tools: AbstractSet[str] | None, max_rows: int
) -> Iterator[DatasetRow]:
    """Yields the rows of `parse_rows` one at a time, for files too large for memory."""
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
    """Returns one line of a file. Raises `DatasetError` with its first fault."""
    item = load_line(line, number)
    for pointer, message in row_faults(item, job_tools):
        raise DatasetError(number, pointer, message)
    return DatasetRow(
        index=index, messages=item["messages"], tools=item.get("tools") or [], item=item
    )


def row_faults(item: dict[str, Any], job_tools: AbstractSet[str] | None) -> Iterator[Fault]:
    """Returns everything that is wrong with a row. `job_tools` as in `tools_faults`."""
    messages: Any = item.get("messages")
    faults = list(messages_faults(messages, "/messages", row=item))
    yield from faults
    if not faults and messages[-1]["role"] != "user":
        yield (
            f"/messages/{len(messages) - 1}/role",
            (
                "the last message must have role 'user': the answer is the model's to give. Rows "
                "that end with an answer to learn are for a job whose method.type is 'supervised'"
            ),
        )
    yield from tools_faults(item.get("tools"), "/tools", callable_names=job_tools)
