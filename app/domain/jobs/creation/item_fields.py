"""Fields of rows that a job's templates read, and the rows that lack them.

Owns the message about a path such as `item.answer` that does not exist. Must not know files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from app.domain.data.dataset import grader_item
from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, walk_fields
from app.domain.graders.graders import is_used, unused_paths
from app.domain.graders.templates.template_faults import placeholders
from app.domain.graders.templates.templates import Placeholder
from app.domain.methods.reinforcement import ReinforcementMethod

INVALID_VARIABLE: Final = "invalid_variable_error"
"""The hosted flag of a template with a missing path; also the code of the job's error."""
_SIMILARITY: Final = 0.5
_MAX_FIELDS: Final = 200
_MAX_LINES: Final = 5
_MAX_NAMES: Final = 100
_SHOWN_NAMES: Final = 10


@dataclass(frozen=True, slots=True)
class ItemField:
    """A path into `item`, and the first template that reads it."""

    param: str
    placeholder: Placeholder


def item_fields(method: Any, root: str) -> tuple[ItemField, ...]:
    """Returns the fields that the graders of `method.reinforcement`, an instance or JSON, read."""
    found, unused = dict[str, ItemField](), unused_paths(method)
    for walked in walk_fields(ReinforcementMethod, method):
        is_read = walked.kind is FieldKind.TEMPLATE and is_used(walked.path, unused)
        for placeholder in placeholders(walked.value) if is_read else ():
            if placeholder.namespace == "item" and len(found) < _MAX_FIELDS:
                entry = ItemField(parameter(root, walked.path), placeholder)
                found.setdefault(placeholder.text, entry)
    return tuple(found.values())


@dataclass(slots=True)
class MissingFields:
    """Counts the rows of a file that lack a field."""

    fields: Sequence[ItemField]
    rows: int = 0
    lines: dict[int, list[int]] = field(default_factory=dict)
    """The first line without each field, by the field's index."""
    counts: dict[int, int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def see(self, item: dict[str, Any], line: int) -> None:
        if not self.fields:
            return
        self.rows += 1
        if len(self.names) < _MAX_NAMES:
            self.names.update(item)
        namespaces = {"item": grader_item(item)}
        for position, entry in enumerate(self.fields):
            if entry.placeholder.leads_somewhere(namespaces):
                continue
            self.counts[position] = self.counts.get(position, 0) + 1
            lines = self.lines.setdefault(position, [])
            if len(lines) < _MAX_LINES:
                lines.append(line)

    def faults(self, label: str) -> Iterator[tuple[str, str, int | None]]:
        """Yields parameter, message and first line of each field that a row lacks."""
        for position, count in sorted(self.counts.items()):
            entry, lines = self.fields[position], self.lines[position]
            shown = f"'{{{{{entry.placeholder.text[:80]}}}}}'"
            if count == self.rows:
                yield (
                    entry.param,
                    f"{shown}: no row of the {label} file has it.{self._cure(entry)}",
                    None,
                )
                continue
            listed = ", ".join(str(line) for line in lines)
            more = f" and {count - len(lines)} more" if count > len(lines) else ""
            message = (
                f"{shown}: {count} of {self.rows} rows of the {label} file lack it (lines {listed}"
                f"{more}). Give it to every row."
            )
            yield entry.param, message, lines[0]

    def _cure(self, entry: ItemField) -> str:
        name = str(entry.placeholder.steps[0])[:80] if entry.placeholder.steps else ""
        near = get_close_matches(name, [each[:80] for each in self.names], n=1, cutoff=_SIMILARITY)
        if near and near[0] != name:
            return f" Did you mean 'item.{near[0]}'?"
        return f" The rows have {', '.join(sorted(self.names)[:_SHOWN_NAMES])}."
