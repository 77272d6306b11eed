"""Row formats by method, and the check of one line.

Pure, so that API, command line and worker give the same answer. Must not know files.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, assert_never, get_args

from app.domain.data import dataset, preference_rows, supervised_rows
from app.domain.data.chat_rows import DatasetError, Fault, load_line
from app.domain.errors import InvalidRequest
from app.domain.methods.supervised import MethodType, TrainOn


def check_row(
    method: MethodType, line: bytes, number: int, *, job_tools: AbstractSet[str] | None = None
) -> dict[str, Any]:
    """Returns the row on line `number` (from 1). Raises `DatasetError` with its first fault.

    `job_tools` are the tools of a reinforcement job, by name; `None`: rows offer any tool.
    """
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
    """Returns the row on line `number`, `None` if it is unusable, and everything that is wrong with
    it. `train_on` says which answers of a supervised row are learned.
    """
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
    """Raises `InvalidRequest` at a row that no job can read: a job reads all rows by one method,
    and the row is the first faulty one for the method that reads most of those before it.
    """
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
    """Returns the messages of a row without faults: the prompt, and for supervised and preference
    rows the answer to learn, which must fit into the context as well.
    """
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
            return supervised_rows.row_faults(item, train_on)
        case "dpo":
            return preference_rows.row_faults(item)
        case "reinforcement":
            return dataset.row_faults(item, job_tools)
        case _:
            assert_never(method)
