"""Which row format a method's files have, and how a line of them is checked.

Pure, so that API, command line and worker give the same answer. Must not know files.
"""

from collections.abc import Iterator
from typing import Any, assert_never

from app.domain import dataset, preference_rows, supervised_rows
from app.domain.chat_rows import DatasetError, Fault, load_line
from app.domain.tuning_methods import MethodType


def check_row(
    method: MethodType, line: bytes, number: int, *, job_tools: set[str] | None = None
) -> dict[str, Any]:
    """The row on line `number` (from 1). Raises `DatasetError` with its first fault."""
    item = load_line(line, number)
    for pointer, message in _faults(method, item, job_tools or set()):
        raise DatasetError(number, pointer, message)
    return item


def each_fault(
    method: MethodType, line: bytes, number: int, *, job_tools: set[str] | None = None
) -> Iterator[DatasetError]:
    """Everything that is wrong with the row on line `number`; nothing for a good one."""
    try:
        item = load_line(line, number)
    except DatasetError as error:
        yield error
        return
    for pointer, message in _faults(method, item, job_tools or set()):
        yield DatasetError(number, pointer, message)


def _faults(method: MethodType, item: dict[str, Any], job_tools: set[str]) -> Iterator[Fault]:
    match method:
        case "supervised":
            return supervised_rows.row_faults(item)
        case "dpo":
            return preference_rows.row_faults(item)
        case "reinforcement":
            return dataset.row_faults(item, job_tools)
        case _:
            assert_never(method)
