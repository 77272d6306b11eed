"""Reads typed, pasted and uploaded examples as rows, with a remark for everything that is wrong.

Pure. `read_file` is the place for a further format of files: bytes in, rows and remarks out.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from app.dashboard.students.example_kinds import (
    KINDS,
    CellFault,
    ExampleKind,
    kind_of,
    question_of,
    row_of,
    with_tags,
)
from app.dashboard.students.table_examples import TableExamples
from app.domain.data.chat_rows import DatasetError, is_blank, load_line
from app.domain.data.example_counts import MIN_EXAMPLES
from app.domain.data.row_formats import inspect_row
from app.tables.contents import HeldContent
from app.tables.csv_rows import RaggedRecord
from app.tables.faults import TableFault
from app.tables.formats import format_of

MOST_ROWS: Final = 20_000
MOST_REMARKS: Final = 50
_MOST_COLUMNS: Final = 5
"""Columns that no example has, which a remark names at most."""
_FILE_CURE: Final = (
    "Drop a CSV file whose first line names its columns, or a file with one JSON object in each "
    "line."
)
_FEWEST: Final = 2 * MIN_EXAMPLES
_TITLES: Final = frozenset({"question", "questions", "prompt", "input", "query"})
"""Titles of a first column that spreadsheets have for questions."""


@dataclass(frozen=True, slots=True)
class ExampleRemark:
    where: str
    what: str
    cure: str
    is_error: bool = True


@dataclass(slots=True)
class ReadExamples:
    """Examples that were read; nothing is stored while a remark is an error."""

    kind: ExampleKind | None
    rows: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[ExampleRemark] = field(default_factory=list)

    @property
    def is_usable(self) -> bool:
        return self.kind is not None and not any(found.is_error for found in self.remarks)

    def remark(self, where: str, what: str, cure: str, *, is_error: bool = True) -> None:
        self.remarks.append(ExampleRemark(where, what, cure, is_error))


def read_typed(
    kind: ExampleKind, cells: Sequence[Mapping[str, str]], pasted: str, instructions: str
) -> ReadExamples:
    """Reads the cells of a form, then the lines that were pasted from a spreadsheet. Empty lines
    of the form are left out.
    """
    read = ReadExamples(kind)
    typed = [(f"Line {number}", line) for number, line in enumerate(cells, start=1)]
    for where, line in (*typed, *_pasted(read, kind, pasted)):
        _add(read, where, line, instructions, cure="Fill it in, or empty the whole line.")
    return _checked(read)


def _add(
    read: ReadExamples, where: str, cells: Mapping[str, str], instructions: str, *, cure: str
) -> None:
    """Adds the row of some cells, or what is wrong with them. Empty lines are left out."""
    if read.kind is None or not any(text.strip() for text in cells.values()):
        return
    try:
        read.rows.append(row_of(read.kind, cells, instructions.strip()))
    except CellFault as fault:
        read.remark(where, f"{fault}.", cure)


def _pasted(
    read: ReadExamples, kind: ExampleKind, text: str
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the cells of each pasted line; a spreadsheet separates them with tabs, and quotes
    those with a line break. A line of titles is left out, and one that would be read as something
    else than was meant is a remark.
    """
    names = [column.name for column in KINDS[kind].columns]
    number = 0
    if text.strip() and "\t" not in text:
        what = "No line has a tab, which is between the columns that a spreadsheet copies."
        read.remark("Pasted lines", what, "Copy them from a spreadsheet, or drop the CSV file.")
        return
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), "excel-tab"), 1):
            where = f"Pasted line {number}"
            if number == 1 and cells and cells[0].strip().casefold() in _TITLES:
                what = f"“{cells[0].strip()}” is the title of a column: the line is left out."
                read.remark(where, what, "", is_error=False)
            elif any("\t" in cell and "\n" in cell for cell in cells):
                what = "A cell has other lines in it, as after a quotation mark that is not closed."
                read.remark(where, what, "Close it, or remove it.")
            elif any(cell.strip() for cell in cells[len(names) :]):
                what = f"There are {len(cells)} cells, and this kind has {len(names)} columns."
                read.remark(where, what, "Paste the columns that are named above, in their order.")
            else:
                yield where, dict(zip(names, cells, strict=False))
    except csv.Error:
        what = "A cell is too long, as after a quotation mark that is not closed."
        read.remark(f"Pasted line {number + 1}", what, "Close it, or shorten the cell.")


def read_file(content: bytes, filename: str, kind: ExampleKind, instructions: str) -> ReadExamples:
    """Reads an uploaded file, with the remarks about all of its rows together. A table has
    examples of `kind`, unless its titles name another one.
    """
    try:
        return _checked(_read_content(HeldContent(content), filename, kind, instructions))
    except TableFault as fault:
        read = ReadExamples(None)
        where = "The file" if fault.line is None else f"Line {fault.line}"
        read.remark(where, f"This file cannot be read: {fault.message}.", _FILE_CURE)
        return read


def _read_content(
    held: HeldContent, filename: str, kind: ExampleKind, instructions: str
) -> ReadExamples:
    """Raises `TableFault`."""
    match format_of(held, filename, None):
        case "jsonl":
            read = read_lines(held.content)
            read.rows = list(map(with_tags, read.rows))
            return read
        case "csv":
            return _read_table(TableExamples(held, kind), instructions)
        case "parquet":
            raise TableFault("wrong_format", "it is a Parquet file, which the API takes")
        case other:
            assert_never(other)


def _read_table(table: TableExamples, instructions: str) -> ReadExamples:
    """Reads the lines of a table. Raises `TableFault`."""
    read = ReadExamples(table.kind)
    if table.unread:
        shown = ", ".join(f"“{name:.40}”" for name in table.unread[:_MOST_COLUMNS])
        read.remark("The file", f"No example has the columns {shown}.", "", is_error=False)
    for number, cells in table.lines():
        if len(read.remarks) >= MOST_REMARKS:
            read.remark(f"Line {number}", "There are more remarks.", "Correct these first.")
            break
        where = f"Line {number}"
        if isinstance(cells, RaggedRecord):
            what = f"There are {cells.values} cells, and the first line has another number."
            read.remark(where, what, "Quote cells that have the separator in them.")
            continue
        _add(read, where, cells, instructions, cure="Fill it in, or remove the line.")
    return read


def read_lines(content: bytes) -> ReadExamples:
    """Reads JSON lines, as jobs do."""
    read = ReadExamples(None)
    for number, line in enumerate(content.splitlines(), start=1):
        if is_blank(line):
            continue
        if len(read.remarks) >= MOST_REMARKS:
            read.remark(f"Line {number}", "There are more remarks.", "Correct these first.")
            break
        _read_line(read, line, number)
    return read


def _read_line(read: ReadExamples, line: bytes, number: int) -> None:
    where = f"Line {number}"
    try:
        kind = kind_of(load_line(line, number))
    except DatasetError as error:
        read.remark(where, f"{error.message}.", "Each line is one example as a JSON object.")
        return
    method = "reinforcement" if kind is None else KINDS[kind].method
    row, faults = inspect_row(method, line, number)
    for fault in faults:
        at = f" (at {fault.pointer})" if fault.pointer else ""
        read.remark(where, f"{fault.message}{at}.", "Each line is one example as a JSON object.")
    if row is None:
        return
    if kind is None:
        cure = (
            "Give each line a key that rates an answer: “fact” (words of a right answer), "
            "“answer” (a number), “tests”, “calls”, or a better and a worse answer."
        )
        read.remark(where, "Nothing in the line says what a right answer is.", cure)
    elif read.kind not in (None, kind):
        read.remark(where, "It is of another kind than the first line.", "Make one file per kind.")
    else:
        read.kind = kind
        read.rows.append(row)


def _checked(read: ReadExamples) -> ReadExamples:
    """Adds the remarks about all rows together."""
    count = len(read.rows)
    if count < _FEWEST:
        cure = f"Add {_FEWEST - count} more: half may be for practice, the rest is kept for tests."
        read.remark("All", f"Examples read: {count}. At least {_FEWEST} are needed.", cure)
    elif count > MOST_ROWS:
        cure = "Upload a larger file with the API, which takes 100,000 rows."
        read.remark("All", f"There are {count:,} examples; a page reads {MOST_ROWS:,}.", cure)
    twice = sum(number - 1 for number in Counter(map(question_of, read.rows)).values())
    if twice:
        cure = "They are kept, and practised more often than others."
        read.remark("All", f"{twice} questions are there more than once.", cure, is_error=False)
    return read
