"""A preflight report: its issues, its files, its estimate, and what graders need of every row."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from app.files.datasets import Overlap, grader_item
from app.graders.choice import EMPTY_REFERENCE, GraderChoice, empty_references, is_absent
from app.graders.definitions import (
    AnyGrader,
    RowReading,
    is_used,
    read_grader,
    row_readings,
    unused_paths,
)
from app.graders.template_faults import placeholders
from app.graders.templates import MissingVariable, Placeholder, parse_template
from app.jobs.reinforcement import ReinforcementHyperparameters
from app.jobs.supervised import MethodType, TrainOn
from app.kit.errors import UNREADABLE_ROW, InvalidRequest, PreflightIssue
from app.kit.fields import DescribedFields, FieldKind, WalkedField, parameter, value_of, walk_fields
from app.models.models import BaseModelSpec

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
    param: str
    placeholder: Placeholder
    is_reference: bool = False
    """True if it is all that a grader compares with, so that no blank text can be meant."""

    def is_missing(self, row: dict[str, Any]) -> bool:
        try:
            value = self.placeholder.value({"item": row})
        except MissingVariable:
            return True
        return self.is_reference and is_absent(value)

    @property
    def shown(self) -> str:
        return f"'{{{{{self.placeholder.text[:80]}}}}}'"

    @property
    def key(self) -> str:
        return str(self.placeholder.steps[0])[:80] if self.placeholder.steps else ""

    @property
    def absent(self) -> str:
        return "null, NaN and a blank are none" if self.is_reference else "null is none"


@dataclass(frozen=True, slots=True)
class RowNeeds:
    fields: tuple[ItemField, ...] = ()
    readings: tuple[RowReading, ...] = ()


NO_NEEDS: Final = RowNeeds()


def row_needs(method: Any, root: str) -> RowNeeds:
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
                is_reference = _is_reference(walked, placeholder)
                entry = ItemField(parameter(root, walked.path), placeholder, is_reference)
                known = found.setdefault(placeholder.text, entry)
                if is_reference and not known.is_reference:
                    found[placeholder.text] = entry
    return tuple(found.values())


def _is_reference(walked: WalkedField, placeholder: Placeholder) -> bool:
    compared = walked.path[-1] == "reference" or walked.path[-2:-1] == ("needles",)
    return compared and parse_template(walked.value.strip()).parts == (placeholder,)


@dataclass(slots=True)
class _FaultyRows:
    count: int = 0
    lines: list[int] = field(default_factory=list)
    reason: str = ""

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
    def __init__(self, needs: RowNeeds, *, with_references: bool) -> None:
        """`with_references`: rows of a method whose graders may read their known keys by name."""
        self._needs = needs
        self._with_references = with_references
        self._empty = dict[str, _FaultyRows]()
        self._rows = 0
        self._names = set[str]()
        self._missing = [_FaultyRows() for _ in needs.fields]
        self._unreadable = [_FaultyRows() for _ in needs.readings]

    def see(self, item: dict[str, Any], line: int) -> None:
        self._rows += 1
        for key in empty_references(item) if self._with_references else ():
            self._empty.setdefault(key, _FaultyRows()).add(line)
        if self._needs == NO_NEEDS:
            return
        if len(self._names) < _MAX_NAMES:
            self._names.update(item)
        row = grader_item(item)
        for entry, lacking in zip(self._needs.fields, self._missing, strict=True):
            if entry.is_missing(row):
                lacking.add(line)
        for reading, found in zip(self._needs.readings, self._unreadable, strict=True):
            fault = reading.fault(row)
            if fault is not None:
                found.add(line, fault)

    def found(self, label: str) -> Iterator[PreflightIssue]:
        for entry, rows in zip(self._needs.fields, self._missing, strict=True):
            if rows.count == self._rows and rows.count and entry.key not in self._names:
                message = f"{entry.shown}: no row of the {label} file has it.{self._cure(entry)}"
                yield PreflightIssue("error", INVALID_VARIABLE, message, entry.param, None)
            elif rows.count:
                message = (
                    f"{entry.shown}: {rows.count} of {self._rows} rows of the {label} file lack it "
                    f"({rows.listed}). Give it to every row: {entry.absent}."
                )
                yield PreflightIssue("error", INVALID_VARIABLE, message, entry.param, rows.lines[0])
        told = {entry.placeholder.steps for entry in self._needs.fields if entry.is_reference}
        for key, rows in self._empty.items():
            if (key,) not in told:
                message = (
                    f"'{key}' is null, NaN or blank in {rows.count} of {self._rows} rows of the "
                    f"{label} file ({rows.listed}). Such a row has no reference, whatever reads it."
                )
                param = f"{label}_file"
                yield PreflightIssue("warning", EMPTY_REFERENCE, message, param, rows.lines[0])
        for reading, rows in zip(self._needs.readings, self._unreadable, strict=True):
            if rows.count:
                shown = ItemField(reading.param, reading.template.placeholders[0]).shown
                message = (
                    f"{shown} is read as {reading.rule.noun}, and {rows.count} of {self._rows} "
                    f"rows of the {label} file have none that can be used ({rows.listed}): "
                    f"{rows.reason}. No answer to such a row can be graded. Correct these rows, or "
                    "use another grader."
                )
                yield PreflightIssue("error", UNREADABLE_ROW, message, reading.param, rows.lines[0])

    def _cure(self, entry: ItemField) -> str:
        names = [each[:80] for each in self._names]
        near = get_close_matches(entry.key, names, n=1, cutoff=_SIMILARITY)
        if near and near[0] != entry.key:
            return f" Did you mean 'item.{near[0]}'?"
        return f" The rows have {', '.join(sorted(self._names)[:_SHOWN_NAMES])}."


Basis = Literal["history", "assumption"]


def issue_of(error: InvalidRequest) -> PreflightIssue:
    return PreflightIssue("error", error.code or "invalid_value", error.message, error.param)


@dataclass(frozen=True, slots=True)
class TokenLengths(DescribedFields):
    """Prompt lengths in tokens, through the model's own chat template."""

    measured_rows: int
    """Number of measured rows: all rows, or an even sample and the longest rows of a large file."""
    mean: float
    """Mean over the measured rows."""
    p50: int
    """Half of the rows are at most as long."""
    p90: int
    """Nine of ten rows are at most as long."""
    p99: int
    """99 of 100 rows are at most as long."""
    max: int
    """The longest row."""
    context_length: int
    """Tokens of the base model's context."""
    over_context: int
    """Measured prompts that leave the model no room for an answer."""


@dataclass(frozen=True, slots=True)
class FileSummary(DescribedFields):
    """Summary of one file. Faulty rows are counted too."""

    rows: int
    """Lines that are not blank."""
    faulty_rows: int
    """Rows with at least one fault."""
    duplicate_rows: int
    """Rows whose messages are on an earlier line as well."""
    duplicate_lines: tuple[tuple[int, int], ...]
    """The first of them: (earlier line, repeated line)."""
    tokens: TokenLengths | None
    """Lengths of its prompts; `null` without a known base model."""
    tools: dict[str, int]
    """Rows that offer each tool."""


@dataclass(frozen=True, slots=True)
class EndpointCheck(DescribedFields):
    """Result of a HEAD request to a customer's address, to a tool also of a call whose arguments
    are no JSON, or of the listing of an MCP server.
    """

    param: str
    """The parameter of the create call with the address."""
    name: str
    """Name of the tool or grader, or label of the MCP server."""
    reachable: bool
    """True if it answered, and not as every call of a wrong address or key is answered."""
    status: int | None
    """HTTP status of the answer to HEAD; `null` for an MCP server."""
    latency_ms: float | None
    """Milliseconds until the answer."""
    detail: str | None
    """The failure in a sentence."""


@dataclass(frozen=True, slots=True)
class Estimate(DescribedFields):
    """Estimated cost of the job if it runs to its last step."""

    total_steps: int
    """Optimizer steps."""
    train_rollouts: int
    """Rollouts of training."""
    validation_rollouts: int
    """Rollouts of all validations."""
    prompt_tokens: int
    """Tokens of all prompts."""
    completion_tokens: int
    """Tokens that the policy would sample."""
    training_seconds: float | None
    """Wall time of one worker, `None` if the pace is unknown."""
    basis: Basis
    """`history`: the pace and lengths of this project's finished jobs on the same base model."""
    explanation: str
    """The basis of the numbers in a sentence."""


@dataclass(frozen=True, slots=True)
class InspectionRequest:
    method: MethodType
    training: Path | None
    validation: Path | None
    job_tools: frozenset[str] | None
    """Names of the tools that the job runs; `None`: calls of rows' tools are graded, not run."""
    base_model: BaseModelSpec | None
    calls_answered: bool = False
    reasoning_effort: str | None = None
    train_on: TrainOn = "all"
    needs: RowNeeds = NO_NEEDS
    batch_size: int | None = None
    hyperparameters: ReinforcementHyperparameters | None = None
    no_room_share: float | None = None
    """Share of validation prompts without room that ends the job; `None` if the check is off."""
    sample_rows: int = 0
    shared_tools: tuple[dict[str, Any], ...] = ()
    reads_difficulty: bool = False
    names_method: bool = True
    """False for a call without `method`, which is read as supervised."""


@dataclass(frozen=True, slots=True)
class SampleRow:
    param: str
    line: int
    item: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DatasetReport:
    training: FileSummary | None
    validation: FileSummary | None
    overlap: Overlap | None
    issues: tuple[PreflightIssue, ...]
    sample_rows: tuple[SampleRow, ...] = ()

    @property
    def warnings(self) -> list[str]:
        return list(dict.fromkeys(found.message for found in self._warnings))

    def warnings_about(self, param: str) -> list[str]:
        return list(dict.fromkeys(one.message for one in self._warnings if one.param == param))

    @property
    def _warnings(self) -> list[PreflightIssue]:
        return [issue for issue in self.issues if issue.severity == "warning"]


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """All issues of a call, with its numbers. `valid` means that no issue is an error."""

    model: str | None
    method: str
    dataset: DatasetReport | None
    endpoints: tuple[EndpointCheck, ...] = ()
    estimate: Estimate | None = None
    issues: tuple[PreflightIssue, ...] = field(default=())
    grader_choice: GraderChoice | None = None

    @property
    def valid(self) -> bool:
        return all(issue.severity != "error" for issue in self.issues)
