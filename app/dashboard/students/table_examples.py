"""Reads the examples of a CSV file: its columns are named as those of the form, or in their order.

Owns the choice between the kinds by the titles of a table, which are those that the service guesses
for every curriculum.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from app.dashboard.students.example_kinds import KINDS, TYPED, ExampleKind
from app.domain.curricula.columns import Role, UnusableColumns, guess
from app.domain.curricula.sources import Columns
from app.tables.contents import Content
from app.tables.csv_rows import CsvForm, RaggedRecord, csv_form, csv_records
from app.tables.faults import TableFault

_ROLES: Final[Mapping[str, Role]] = {
    "question": "prompt",
    "answer": "answer",
    "better": "chosen",
    "worse": "rejected",
    "topic": "tags",
}
"""The part of a row that a column of the form stands for."""


class TableExamples:
    """Reads the lines of one table as cells of the form. Raises `TableFault`."""

    def __init__(self, content: Content, kind: ExampleKind) -> None:
        self._content = content
        self._form = csv_form(content, encoding=None, delimiter=None, has_header=True)
        named = self._named(kind)
        self.kind, self._titles = (kind, {}) if named is None else named

    @property
    def unread(self) -> list[str]:
        """Returns the named columns that no example has."""
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
        """Returns the first kind that the table names in full, with the title of each column;
        `None` for a table without titles. Raises `TableFault` for one that names a part of them.
        """
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
    """Returns the title of each column of a kind that a table has."""
    try:
        found = guess(header, Columns(), KINDS[kind].method)
    except UnusableColumns as fault:
        raise TableFault("unknown_columns", str(fault)) from fault
    columns = (column.name for column in KINDS[kind].columns)
    return {name: found[_ROLES[name]] for name in columns if _ROLES[name] in found}
