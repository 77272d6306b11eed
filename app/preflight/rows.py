"""Extracts the prompt of a row and its faults, for each training method."""

from typing import Any, assert_never

from app.domain.data.chat_rows import DatasetError
from app.domain.data.row_formats import inspect_row, prompt_messages
from app.domain.methods.supervised import MethodType, TrainOn
from app.preflight.files import RowPrompt, RowReader


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
