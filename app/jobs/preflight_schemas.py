"""A preflight report on the wire (an extension)."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, Final, Literal

from pydantic import ValidationError

from app.files.datasets import Overlap
from app.graders.choice import GraderChoice
from app.jobs.method_schemas import other_bodies
from app.jobs.methods import METHOD_MODELS, parameters_of
from app.jobs.preflight import (
    DatasetReport,
    EndpointCheck,
    Estimate,
    FileSummary,
    PreflightReport,
    issue_of,
)
from app.jobs.requests import JobRequest
from app.jobs.schemas import CreateFineTuningJob, call_fields
from app.kit.errors import InvalidRequest, PreflightIssue
from app.kit.faults import NOWHERE, UNKNOWN_PARAMETER, KeyHints, unknown_key_error, unread
from app.kit.fields import DescribedModel, FieldKind, walk_fields
from app.kit.schemas import refusals

_ROOTS: Final = ("", *(f"method.{kind}" for kind in METHOD_MODELS), "curriculum")
"""The parts of a call that are parsed separately."""
MAX_FAULTS: Final = 200
"""Limit of issues with the call itself; issues of rows have a separate limit."""


class Fault(DescribedModel):
    """One fault. `line` counts from 1; `pointer` is a JSON pointer into that line."""

    severity: Literal["error", "warning"]
    """`error`: the job would be refused or fail. `warning`: it would run."""
    code: str
    """The fault in a word that programs can compare."""
    message: str
    """The fault in a sentence, with its cure."""
    param: str | None
    """The parameter of the create call at fault."""
    line: int | None
    """Line of the file, from 1."""
    pointer: str | None
    """JSON pointer into that line."""

    @classmethod
    def of(cls, issue: PreflightIssue) -> "Fault":
        return cls(**asdict(issue))


class FineTuningJobValidation(DescribedModel):
    """Report on a create call that was checked but not made.

    `valid` means that there are no errors. Lengths are in tokens, `latency_ms` in milliseconds.
    """

    object: Literal["fine_tuning.job.validation"] = "fine_tuning.job.validation"
    valid: bool
    """True if there are no errors."""
    model: str | None
    """Name of the base model; `null` if it is unknown."""
    method: str
    """`reinforcement`, `supervised` or `dpo`."""
    errors: list[Fault]
    """Faults for which the job would be refused or fail."""
    warnings: list[Fault]
    """Faults with which the job would run."""
    training_file: FileSummary | None
    """Counts of the training file; `null` without a usable one."""
    validation_file: FileSummary | None
    """Counts of the validation file; `null` without a usable one."""
    overlap: Overlap | None
    """Rows that are in both files; `null` without both."""
    endpoints: list[EndpointCheck]
    """Tools and graders, each probed once without a call."""
    estimate: Estimate | None
    """Estimated cost of a reinforcement job; `null` for other methods and for a call that cannot be
    parsed.
    """
    grader_choice: GraderChoice | None
    """The grader that `auto` stands for; `null` for a call that names its grader."""

    @classmethod
    def of(cls, report: PreflightReport) -> "FineTuningJobValidation":
        dataset = report.dataset or DatasetReport(None, None, None, ())
        faults = [Fault.of(issue) for issue in report.issues]
        return cls.read(
            report,
            errors=[fault for fault in faults if fault.severity == "error"],
            warnings=[fault for fault in faults if fault.severity == "warning"],
            training_file=dataset.training,
            validation_file=dataset.validation,
            overlap=dataset.overlap,
            endpoints=list(report.endpoints),
        )


def read_call(body: dict[str, Any]) -> tuple[JobRequest | None, list[PreflightIssue]]:
    """Returns the call as a domain value, or every fault that prevents one. Unknown keys without
    effect become warnings.
    """
    request, faults = _read(body)
    reported = {fault.param for fault in faults}
    return request, [*faults, *_unknown(body, reported=reported)]


def unread_in_method(body: dict[str, Any]) -> list[PreflightIssue]:
    """Returns a warning for each key of a valid method that nothing reads."""
    method = CreateFineTuningJob.model_validate(body).to_spec().method
    keys = unread(
        walk_fields(type(method), method),
        f"method.{method.kind}",
        parameters_of(method.kind, method),
    )
    return [PreflightIssue("warning", UNKNOWN_PARAMETER, key.message, key.param) for key in keys]


def _unknown(body: dict[str, Any], *, reported: set[str | None]) -> Iterator[PreflightIssue]:
    """Returns the unknown keys outside the method's own object, and the settings of other
    methods.
    """
    walked, elsewhere = call_fields(body)
    unknown = [field for field in walked if field.kind is FieldKind.UNKNOWN][:MAX_FAULTS]
    refusals = (unknown_key_error(field, "", elsewhere) for field in unknown)
    method = body.get("method")
    kind = method.get("type") if isinstance(method, dict) else None
    others: Iterable[InvalidRequest] = ()
    if isinstance(method, dict) and isinstance(kind, str) and kind in METHOD_MODELS:
        others = other_bodies(method, kind)
    for refusal in (*refusals, *others):
        if refusal is not None and refusal.param not in reported:
            yield issue_of(refusal)
    for key in unread(unknown, "", elsewhere):
        if key.param not in reported:
            yield PreflightIssue("warning", UNKNOWN_PARAMETER, key.message, key.param)


def _read(body: dict[str, Any]) -> tuple[JobRequest | None, list[PreflightIssue]]:
    try:
        return CreateFineTuningJob.model_validate(body).to_spec(), []
    except ValidationError as error:
        return None, list(_faults(error, root=""))
    except InvalidRequest as error:
        _, elsewhere = call_fields(body)
        return None, _faults_behind(error, elsewhere)


def _faults_behind(error: InvalidRequest, elsewhere: KeyHints) -> list[PreflightIssue]:
    """Returns all faults of the part of the call in which an error is the first fault."""
    cause = error.__cause__
    if isinstance(cause, InvalidRequest):  # missing because of the error: no fault of its own
        return [issue_of(error), *_faults_behind(cause, elsewhere)[1:]]
    if not isinstance(cause, ValidationError):
        return [issue_of(error)]
    for root in _ROOTS:
        found = _faults(cause, root=root, elsewhere=elsewhere)
        first = next(found)
        if first.param == error.param:
            return [first, *found]
    return [issue_of(error)]


def _faults(
    error: ValidationError, *, root: str, elsewhere: KeyHints = NOWHERE
) -> Iterator[PreflightIssue]:
    """Yields one fault for each path."""
    found = refusals(root, error.errors(include_url=False), elsewhere=elsewhere)
    yield from map(issue_of, islice(found, MAX_FAULTS))
    if next(found, None) is not None:
        message = f"There are more faults than these {MAX_FAULTS}."
        yield PreflightIssue("error", "invalid_value", message, None)
