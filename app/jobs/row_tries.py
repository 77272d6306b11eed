"""Tries the graders of a job on each of its rows: the fields that templates read, and the values
that graders must be able to use.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from app.files.datasets import grader_item
from app.graders.definitions import (
    AnyGrader,
    RowReading,
    is_used,
    read_grader,
    row_readings,
    unused_paths,
)
from app.graders.template_faults import placeholders
from app.graders.templates import Placeholder
from app.kit.errors import UNREADABLE_ROW
from app.kit.fields import FieldKind, parameter, value_of, walk_fields

INVALID_VARIABLE: Final = "invalid_variable_error"
"""The hosted flag of a template with a missing path; also the code of the job's error."""
_GRADER: Final = "grader"
_SIMILARITY: Final = 0.5
_MOST: Final = 200
_MAX_LINES: Final = 5
_MAX_NAMES: Final = 100
_SHOWN_NAMES: Final = 10


@dataclass(frozen=True, slots=True)
class ItemField:
    """A path into `item`, and the first template that reads it."""

    param: str
    placeholder: Placeholder

    @property
    def shown(self) -> str:
        return f"'{{{{{self.placeholder.text[:80]}}}}}'"


@dataclass(frozen=True, slots=True)
class RowNeeds:
    fields: tuple[ItemField, ...] = ()
    """Fields that every row must have."""
    readings: tuple[RowReading, ...] = ()
    """Values that the graders must be able to read."""


NO_NEEDS: Final = RowNeeds()


@dataclass(frozen=True, slots=True)
class UnmetNeed:
    """A need that rows of a file do not meet."""

    code: str
    param: str
    message: str
    line: int | None
    """The first line with the fault; `None` if every row has it."""


def row_needs(method: Any, root: str) -> RowNeeds:
    """Returns the needs of `method.reinforcement`, an instance or JSON; none of a faulty grader."""
    try:
        grader = read_grader(value_of(method, _GRADER))
    except ValueError:  # pydantic raises its two kinds
        return NO_NEEDS
    readings = (
        each for each in row_readings(grader, f"{root}.{_GRADER}") if each.template.placeholders
    )
    return RowNeeds(_item_fields(grader, root), tuple(islice(readings, _MOST)))


def _item_fields(grader: AnyGrader, root: str) -> tuple[ItemField, ...]:
    found, unused = dict[str, ItemField](), unused_paths({_GRADER: grader})
    for walked in walk_fields(type(grader), grader, (_GRADER,)):
        is_read = walked.kind is FieldKind.TEMPLATE and is_used(walked.path, unused)
        for placeholder in placeholders(walked.value) if is_read else ():
            if placeholder.namespace == "item" and len(found) < _MOST:
                entry = ItemField(parameter(root, walked.path), placeholder)
                found.setdefault(placeholder.text, entry)
    return tuple(found.values())


@dataclass(slots=True)
class _FaultyRows:
    """The rows that do not meet a need."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    reason: str = ""
    """That of the first row."""

    def add(self, line: int, reason: str = "") -> None:
        self.count += 1
        self.reason = self.reason or reason
        if len(self.lines) < _MAX_LINES:
            self.lines.append(line)

    @property
    def listed(self) -> str:
        more = self.count - len(self.lines)
        return f"lines {', '.join(map(str, self.lines))}" + (f" and {more} more" if more else "")


class RowFaults:
    """Counts the rows of a file that do not meet a need."""

    def __init__(self, needs: RowNeeds) -> None:
        self._needs = needs
        self._rows = 0
        self._names = set[str]()
        self._missing = [_FaultyRows() for _ in needs.fields]
        self._unreadable = [_FaultyRows() for _ in needs.readings]

    def see(self, item: dict[str, Any], line: int) -> None:
        if self._needs == NO_NEEDS:
            return
        self._rows += 1
        if len(self._names) < _MAX_NAMES:
            self._names.update(item)
        row = grader_item(item)
        for entry, lacking in zip(self._needs.fields, self._missing, strict=True):
            if not entry.placeholder.leads_somewhere({"item": row}):
                lacking.add(line)
        for reading, found in zip(self._needs.readings, self._unreadable, strict=True):
            fault = reading.fault(row)
            if fault is not None:
                found.add(line, fault)

    def found(self, label: str) -> Iterator[UnmetNeed]:
        """Yields a fault for each need that rows of the `label` file do not meet."""
        for entry, rows in zip(self._needs.fields, self._missing, strict=True):
            if rows.count == self._rows and rows.count:
                message = f"{entry.shown}: no row of the {label} file has it.{self._cure(entry)}"
                yield UnmetNeed(INVALID_VARIABLE, entry.param, message, None)
            elif rows.count:
                message = (
                    f"{entry.shown}: {rows.count} of {self._rows} rows of the {label} file lack it "
                    f"({rows.listed}). Give it to every row."
                )
                yield UnmetNeed(INVALID_VARIABLE, entry.param, message, rows.lines[0])
        for reading, rows in zip(self._needs.readings, self._unreadable, strict=True):
            if rows.count:
                shown = ItemField(reading.param, reading.template.placeholders[0]).shown
                message = (
                    f"{shown} is read as {reading.rule.noun}, and {rows.count} of {self._rows} "
                    f"rows of the {label} file have none that can be used ({rows.listed}): "
                    f"{rows.reason}. No answer to such a row can be graded. Correct these rows, or "
                    "use another grader."
                )
                yield UnmetNeed(UNREADABLE_ROW, reading.param, message, rows.lines[0])

    def _cure(self, entry: ItemField) -> str:
        name = str(entry.placeholder.steps[0])[:80] if entry.placeholder.steps else ""
        near = get_close_matches(name, [each[:80] for each in self._names], n=1, cutoff=_SIMILARITY)
        if near and near[0] != name:
            return f" Did you mean 'item.{near[0]}'?"
        return f" The rows have {', '.join(sorted(self._names)[:_SHOWN_NAMES])}."
