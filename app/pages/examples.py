"""The kinds of examples: the columns that a person types, and the row of a file that they make.

Pure. Each kind fits one recipe, whose grader or loss reads the row.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, assert_never

from app.curricula.columns import Role, UnusableColumns, guess, tags_in
from app.curricula.curricula import Columns
from app.files.datasets import inspect_row
from app.files.division import TAG_FIELD, tags_of
from app.files.rows import MIN_EXAMPLES, DatasetError, is_blank, load_line
from app.files.table_formats import format_of
from app.files.table_texts import (
    Content,
    CsvForm,
    HeldContent,
    RaggedRecord,
    TableFault,
    csv_form,
    csv_records,
)
from app.jobs.supervised import MethodType

TOPIC: Final = "topic"


class ExampleKind(StrEnum):
    WORDS = "words"
    NUMBER = "number"
    BETTER = "better"
    CODE = "code"
    CALLS = "calls"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    label: str
    needed: bool = True


@dataclass(frozen=True, slots=True)
class KindText:
    title: str
    purpose: str
    columns: tuple[Column, ...]
    """Columns of the form; empty for a kind that comes from files only."""
    recipe: str
    method: MethodType


class CellFault(ValueError):
    """A cell that makes no row; users read the text."""


_QUESTION: Final = Column("question", "Question")
_TOPIC: Final = Column(TOPIC, "Topic (if you like)", needed=False)
KINDS: Final[Mapping[ExampleKind, KindText]] = {
    ExampleKind.WORDS: KindText(
        "A right answer contains certain words",
        "Support, policies, facts: the answer is right when your words are in it.",
        (_QUESTION, Column("answer", "Words of a right answer"), _TOPIC),
        "customer_support",
        "reinforcement",
    ),
    ExampleKind.NUMBER: KindText(
        "A right answer ends with a number",
        "Sums, doses, measures: the number that the answer gives decides.",
        (_QUESTION, Column("answer", "Right number"), _TOPIC),
        "reasoning",
        "reinforcement",
    ),
    ExampleKind.BETTER: KindText(
        "Of two answers one is better",
        "Tone, refusals, style: you show a better and a worse answer.",
        (_QUESTION, Column("better", "Better answer"), Column("worse", "Worse answer"), _TOPIC),
        "safety_alignment",
        "dpo",
    ),
    ExampleKind.CODE: KindText(
        "A function passes its tests",
        "Python functions with tests, from a file.",
        (),
        "code_assistant",
        "reinforcement",
    ),
    ExampleKind.CALLS: KindText(
        "The right tool is called",
        "Questions with the call that they need, from a file.",
        (),
        "tool_use",
        "reinforcement",
    ),
}
TYPED: Final = tuple(kind for kind, text in KINDS.items() if text.columns)
_MARKS: Final = (
    ("preferred_output", ExampleKind.BETTER),
    ("fact", ExampleKind.WORDS),
    ("tests", ExampleKind.CODE),
    ("calls", ExampleKind.CALLS),
    ("answer", ExampleKind.NUMBER),
)
"""The key of a row that shows its kind, the most specific first."""


def kind_of(row: Mapping[str, Any]) -> ExampleKind | None:
    return next((kind for key, kind in _MARKS if key in row), None)


def row_of(kind: ExampleKind, cells: Mapping[str, str], instructions: str) -> dict[str, Any]:
    for column in KINDS[kind].columns:
        if column.needed and not cells.get(column.name, "").strip():
            raise CellFault(f"“{column.label}” is empty")
    texts = {name: text.strip() for name, text in cells.items()}
    topics = tags_in(texts.get(TOPIC, ""))
    topic = {TAG_FIELD: topics} if topics else {}
    asked = {"role": "user", "content": texts["question"]}
    messages = [{"role": "system", "content": instructions}, asked] if instructions else [asked]
    match kind:
        case ExampleKind.WORDS:
            return {"messages": messages, "fact": texts["answer"], **topic}
        case ExampleKind.NUMBER:
            return {"messages": messages, "answer": _number(texts["answer"]), **topic}
        case ExampleKind.BETTER:
            if texts["better"] == texts["worse"]:
                raise CellFault("both answers are the same, so neither is better")
            return {
                "input": {"messages": messages},
                "preferred_output": [{"role": "assistant", "content": texts["better"]}],
                "non_preferred_output": [{"role": "assistant", "content": texts["worse"]}],
                **topic,
            }
        case ExampleKind.CODE | ExampleKind.CALLS:
            raise CellFault("examples of this kind come from a file")
        case _:
            assert_never(kind)


def _number(text: str) -> int | float:
    try:
        number = float(text.replace(",", "").replace(" ", ""))
        return int(number) if number.is_integer() else number
    except (ValueError, OverflowError):
        raise CellFault(f"“{text:.40}” is not a number") from None


def question_of(row: Mapping[str, Any]) -> str:
    given = row.get("input")
    messages = given.get("messages") if isinstance(given, dict) else row.get("messages")
    texts = messages if isinstance(messages, list) else []
    asked = [each for each in texts if isinstance(each, dict) and each.get("role") == "user"]
    return text_of_content(asked[-1].get("content")) if asked else ""


def wanted_of(row: Mapping[str, Any]) -> str:
    """Returns what a row says about a right answer, as a person would read it."""
    match kind_of(row):
        case ExampleKind.WORDS:
            return text_of_content(row["fact"])
        case ExampleKind.NUMBER:
            return text_of_content(row["answer"])
        case ExampleKind.BETTER:
            return f"better: {_answer(row, 'preferred_output')}"
        case ExampleKind.CODE:
            return f"the function {text_of_content(row.get('function'))} passes its tests"
        case ExampleKind.CALLS:
            sent = row["calls"] if isinstance(row["calls"], list) else []
            calls = [each for each in sent if isinstance(each, dict)]
            return ", ".join(text_of_content(each.get("name")) for each in calls) or "no call"
        case None:
            return ""
        case unknown:
            assert_never(unknown)


def worse_of(row: Mapping[str, Any]) -> str:
    return _answer(row, "non_preferred_output") if "non_preferred_output" in row else ""


def topics_of(row: Mapping[str, Any]) -> list[str]:
    named = (tags_of(row, name) for name in (TAG_FIELD, TOPIC, "tag", "kind"))
    return next((tags for tags in named if tags), [])


def with_tags(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row with its topics as tags, by which the service divides and compares rows."""
    topics = topics_of(row)
    return {**row, TAG_FIELD: topics} if topics and not tags_of(row) else row


def _answer(row: Mapping[str, Any], name: str) -> str:
    return text_of_content(row[name][-1].get("content"))


def text_of_content(value: Any) -> str:
    """Returns a text, the texts of a list of parts, or the value as it would be printed."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = (each.get("text") for each in value if isinstance(each, dict))
        return " ".join(each for each in parts if isinstance(each, str))
    return "" if value is None else str(value)


_ROLES: Final[Mapping[str, Role]] = {
    "question": "prompt",
    "answer": "answer",
    "better": "chosen",
    "worse": "rejected",
    "topic": "tags",
}
"""The part of a row that a column of the form stands for."""


class TableExamples:
    def __init__(self, content: Content, kind: ExampleKind) -> None:
        self._content = content
        self._form = csv_form(content, encoding=None, delimiter=None, has_header=True)
        named = self._named(kind)
        self.kind, self._titles = (kind, {}) if named is None else named

    @property
    def unread(self) -> list[str]:
        taken = {*self._titles.values()}
        return [name for name in self._form.header if name not in taken] if taken else []

    def lines(self) -> Iterator[tuple[int, dict[str, str] | RaggedRecord]]:
        """Yields the line (from 1) and the cells of each example."""
        has_header = bool(self._titles)
        names = {title: column for column, title in self._titles.items()}
        form = self._form if has_header else self._ordered()
        for line, record in csv_records(self._content, form, has_header=has_header):
            if isinstance(record, RaggedRecord) or not has_header:
                yield line, record
            else:
                yield line, {names[title]: cell for title, cell in record.items() if title in names}

    def _ordered(self) -> CsvForm:
        columns = [column.name for column in KINDS[self.kind].columns]
        width = len(self._form.header)
        needed = sum(column.needed for column in KINDS[self.kind].columns)
        if not needed <= width <= len(columns):
            raise TableFault("unknown_columns", self._unnamed(self.kind))
        return CsvForm(self._form.encoding, self._form.delimiter, tuple(columns[:width]))

    def _named(self, kind: ExampleKind) -> tuple[ExampleKind, dict[str, str]] | None:
        """Raises `TableFault` for a table that names a part of a kind; `None` without titles."""
        names_some = False
        for each in (kind, *(other for other in TYPED if other is not kind)):
            found = _titles(self._form.header, each)
            if all(column.name in found for column in KINDS[each].columns if column.needed):
                return each, found
            names_some = names_some or bool(found)
        if names_some:
            raise TableFault("unknown_columns", self._unnamed(kind))
        return None

    def _unnamed(self, kind: ExampleKind) -> str:
        labels = ", ".join(f"“{column.name}”" for column in KINDS[kind].columns)
        shown = ", ".join(f"“{name:.40}”" for name in self._form.header[:8])
        return f"its columns are {shown}, and these examples have {labels}"


def _titles(header: Sequence[str], kind: ExampleKind) -> dict[str, str]:
    try:
        found = guess(header, Columns(), KINDS[kind].method)
    except UnusableColumns as fault:
        raise TableFault("unknown_columns", str(fault)) from fault
    columns = (column.name for column in KINDS[kind].columns)
    return {name: found[_ROLES[name]] for name in columns if _ROLES[name] in found}


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
    read = ReadExamples(kind)
    typed = [(f"Line {number}", line) for number, line in enumerate(cells, start=1)]
    for where, line in (*typed, *_pasted(read, kind, pasted)):
        _add(read, where, line, instructions, cure="Fill it in, or empty the whole line.")
    return _checked(read)


def _add(
    read: ReadExamples, where: str, cells: Mapping[str, str], instructions: str, *, cure: str
) -> None:
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
    """Reads an uploaded file, a table as `kind` unless its titles name another one."""
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
