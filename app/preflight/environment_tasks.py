"""Makes the tasks of a job's built-in environment, as rows of its two files.

Plain data in and out, so that the API can run it in a separate process and the command line can run
the same code.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.data.chat_rows import DatasetError, is_blank, load_line
from app.domain.data.example_counts import MAX_TRAIN_EXAMPLES
from app.domain.environments.environments import (
    FILE_PARAM,
    AnyEnvironment,
    BuiltIn,
    check_count,
    is_built_in_name,
    read_environment,
    training_numbers,
    validation_numbers,
)
from app.domain.environments.gsm8k import PROBLEM_COLUMNS, UnreadableProblem, row_of
from app.domain.errors import InvalidRequest
from app.preflight.method_parts import method_of, reinforcement_of
from app.tables.faults import TableFault
from app.tables.json_lines import lines_of
from app.tables.parquet_records import (
    MAX_CONTENT_BYTES,
    is_parquet,
    parquet_header,
    parquet_records,
)

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EnvironmentTasks:
    training: list[_Row]
    validation: list[_Row]


def environment_of(body: _Row) -> AnyEnvironment | None:
    """Returns the environment of a call's JSON, `None` for a call without one or a faulty one."""
    sent = reinforcement_of(method_of(body)).get("environment")
    try:
        return None if sent is None else read_environment(sent)
    except ValueError:  # pydantic raises its two kinds
        return None


def with_environment_grader(body: _Row, environment: AnyEnvironment) -> _Row:
    """Returns the JSON of a call with the environment's grader, unless the call has its own, and
    with the environment in place of its name.
    """
    inner = reinforcement_of(method_of(body))
    if is_built_in_name(inner.get("environment")):
        inner = {**inner, "environment": {"type": inner["environment"]}}
    if inner.get("grader") is None and environment.missing_option is None:
        inner = {**inner, "grader": environment.grader()}
    return {**body, "method": {**body["method"], "reinforcement": inner}}


def tasks_of(environment: BuiltIn, file: Path | None) -> EnvironmentTasks:
    """Makes the tasks. `file` has the problems of an environment that names one. Raises
    `InvalidRequest`, and `OSError` if the file does not exist.
    """
    rows = None if file is None else _problems_of(file)
    count = environment.problems if rows is None else len(rows)
    check_count(environment, count)

    def row(number: int) -> _Row:
        return environment.row(number) if rows is None else rows[number]

    return EnvironmentTasks(
        [row(number) for number in training_numbers(environment, count)],
        [row(number) for number in validation_numbers(environment, count)],
    )


def _problems_of(path: Path) -> list[_Row]:
    """Returns the problems of a file, each question once."""
    rows = dict[str, _Row]()
    try:
        for location, number, line in _lines(path):
            if len(rows) == MAX_TRAIN_EXAMPLES:
                raise _unreadable(f"it has more than {MAX_TRAIN_EXAMPLES} problems")
            try:
                row = row_of(load_line(line, number))
            except DatasetError as error:
                raise _unreadable(f"{location}: {error.message}") from error
            except UnreadableProblem as error:
                raise _unreadable(f"{location}: {error}") from error
            rows.setdefault(row["question"].strip(), row)
    except TableFault as fault:
        raise _unreadable(fault.message) from fault
    return list(rows.values())


def _lines(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yields location, number and JSON of each row of a JSONL or Parquet file. Raises
    `TableFault`.
    """
    if is_parquet(path):
        header = parquet_header(path, most_bytes=MAX_CONTENT_BYTES)
        missing = [name for name in PROBLEM_COLUMNS if name not in header]
        if missing:
            raise TableFault("missing_column", f"it has no column '{missing[0]}'")
        for number, row in parquet_records(path, PROBLEM_COLUMNS):
            yield f"Row {number}", number, json.dumps(row).encode()
        return
    with path.open("rb") as file:
        for number, line in lines_of(file):
            if not is_blank(line):
                yield f"Line {number}", number, line


def _unreadable(why: str) -> InvalidRequest:
    return InvalidRequest(
        f"The file of the environment cannot be used: {why}.",
        param=FILE_PARAM,
        code="invalid_environment_file",
    )
