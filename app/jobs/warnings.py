"""Requirements of a job's graders for each row, and the rows that fail them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from app.files.datasets import grader_item
from app.graders.definitions import AnyGrader, read_grader
from app.graders.grader_model import GraderModel
from app.graders.rows import RowReading, row_readings
from app.jobs.ineffective_options import offline_out_of_reach
from app.jobs.jobs import TuningMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.requests import INVALID_VARIABLE, ItemField, MissingFields, item_fields
from app.jobs.supervised import DpoMethod, OfflineMethodType, SupervisedMethod
from app.kit.errors import UNREADABLE_ROW
from app.kit.issues import NoEffect, unused_option
from app.kit.walk import value_of
from app.models.models import suffix_in_name

_MAX_READINGS: Final = 200
_MAX_LINES: Final = 5


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
    """Returns the needs of `method.reinforcement`, an instance or JSON. Includes the defaults of a
    grader if it can be parsed.
    """
    if isinstance(method, dict):
        method = {**method, "grader": _as_read(method.get("grader"))}
    readings = [
        reading
        for param, each in _read_graders(value_of(method, "grader"), f"{root}.grader")
        for reading in row_readings(each, param)
        if reading.template.placeholders
    ]
    return RowNeeds(item_fields(method, root), tuple(readings[:_MAX_READINGS]))


def _as_read(sent: Any) -> Any:
    """Returns a grader as an instance. For an invalid `multi` it returns the valid children, and
    otherwise the JSON as sent.
    """
    whole = _instance_of(sent)
    if isinstance(whole, dict) and isinstance(whole.get("graders"), dict):
        children = {name: _instance_of(child) for name, child in whole["graders"].items()}
        return {**whole, "graders": children}
    return whole


def _instance_of(sent: Any) -> Any:
    try:
        return read_grader(sent)
    except (ValidationError, PydanticCustomError):
        return sent


def _read_graders(grader: Any, param: str) -> Iterator[tuple[str, AnyGrader]]:
    match grader:
        case GraderModel():
            yield param, read_grader(grader)
        case {"graders": dict(children)}:
            for name, child in children.items():
                if isinstance(child, GraderModel):
                    yield f"{param}.graders.{name}", read_grader(child)
        case _:
            return


class RowFaults:
    """Counts the rows of a file that do not meet a need."""

    def __init__(self, needs: RowNeeds) -> None:
        self._needs = needs
        self._missing = MissingFields(needs.fields)
        self._rows = 0
        self._unreadable = [_Unreadable() for _ in needs.readings]

    def see(self, item: dict[str, Any], line: int) -> None:
        self._missing.see(item, line)
        if not self._needs.readings:
            return
        self._rows += 1
        row = grader_item(item)
        for reading, found in zip(self._needs.readings, self._unreadable, strict=True):
            fault = reading.fault(row)
            if fault is not None:
                found.add(line, fault)

    def found(self, label: str) -> Iterator[UnmetNeed]:
        """Yields a fault for each need that rows of the `label` file do not meet."""
        for param, message, line in self._missing.faults(label):
            yield UnmetNeed(INVALID_VARIABLE, param, message, line)
        for reading, found in zip(self._needs.readings, self._unreadable, strict=True):
            if found.count:
                message = found.message(reading, label, rows=self._rows)
                yield UnmetNeed(UNREADABLE_ROW, reading.param, message, found.lines[0])


@dataclass(slots=True)
class _Unreadable:
    """The rows whose value a grader cannot read."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    first: str = ""
    """Fault of the first such row."""

    def add(self, line: int, fault: str) -> None:
        self.count += 1
        self.first = self.first or fault
        if len(self.lines) < _MAX_LINES:
            self.lines.append(line)

    def message(self, reading: RowReading, label: str, *, rows: int) -> str:
        text = f"'{{{{{reading.template.placeholders[0].text[:80]}}}}}'"
        listed = ", ".join(str(line) for line in self.lines)
        more = f" and {self.count - len(self.lines)} more" if self.count > len(self.lines) else ""
        return (
            f"{text} is read as {reading.rule.value}, and {self.count} of {rows} rows of the "
            f"{label} file have none that can be used (lines {listed}{more}): {self.first}. No "
            "answer to such a row can be graded. Correct these rows, or use another grader."
        )


NO_REPORT: Final = "no_report"
_TIME: Final = "max_training_time_s"
_OF_VALIDATIONS: Final = ("plateau", "target", "gap")
"""Stop rules that read validations."""


def call_warnings(
    method: TuningMethod, *, has_validation: bool, has_rollout_cap: bool
) -> Iterator[NoEffect]:
    """Yields the parts of a call without effect; of a reinforcement job, its method has them all.
    `has_validation` says whether the call brings held-out rows.
    """
    match method:
        case ReinforcementMethod():
            return
        case SupervisedMethod() | DpoMethod():
            root = f"method.{method.kind}"
            if has_rollout_cap:
                why = f"a job of the method '{method.kind}' has no rollouts; '{_TIME}' limits it"
                yield unused_option("max_rollouts", why)
            if not has_validation:
                yield _without_report(method.kind)
                yield from _rules_without_validations(method, root)
            yield from offline_out_of_reach(method, root)
        case _:
            assert_never(method)


def overridden(older: Any, newer: Any) -> Iterator[NoEffect]:
    """Yields the deprecated top-level hyperparameters that have another value inside the method,
    which takes precedence. Both are JSON, valid or not.
    """
    if not isinstance(older, Mapping) or not isinstance(newer, Mapping):
        return
    for name, value in older.items():
        if value is not None and newer.get(name) is not None and newer[name] != value:
            param = f"hyperparameters.{name}"
            yield unused_option(
                param, f"'method.supervised.{param}' has another value, which is used"
            )


def suffix_warnings(suffix: Any) -> Iterator[NoEffect]:
    """Yields the suffix whose characters are not all in the tuned model's name; capital letters
    become small ones without a warning.
    """
    if not isinstance(suffix, str) or suffix_in_name(suffix) == suffix.lower():
        return
    shown = suffix_in_name(suffix)
    instead = f"has '{shown}' instead" if shown else "has none"
    yield NoEffect(
        "suffix_changed",
        "suffix",
        f"The name of the tuned model {instead} of the suffix '{suffix}': a name has small letters "
        "from a to z, digits and '-'",
    )


def _without_report(kind: OfflineMethodType) -> NoEffect:
    return NoEffect(
        NO_REPORT,
        "validation_file",
        f"A job of the method '{kind}' without 'validation_file' has no validations and no report: "
        "nothing will show whether the tuned model is better than the base model on rows that it "
        "has not seen. Send held-out rows, 10 at least, as 'validation_file'",
    )


def _rules_without_validations(
    method: SupervisedMethod | DpoMethod, root: str
) -> Iterator[NoEffect]:
    stop = method.stop
    if stop is None:
        return
    for name in _OF_VALIDATIONS:
        rule = getattr(stop, name)
        if name in stop.model_fields_set and rule is not None and rule.action != "off":
            yield unused_option(
                f"{root}.stop.{name}", "it compares validations, and the job has none"
            )
