"""A preflight report on the wire. Ours: the hosted API has no such call."""

from dataclasses import asdict
from typing import Literal

from pydantic import BaseModel

from app.domain.preflight import (
    DatasetReport,
    EndpointCheck,
    Estimate,
    FileSummary,
    Finding,
    Overlap,
    PreflightReport,
)


class Fault(BaseModel):
    """One fault. `line` counts from 1; `pointer` is a JSON pointer into that line."""

    severity: Literal["error", "warning"]
    code: str
    message: str
    param: str | None
    line: int | None
    pointer: str | None

    @classmethod
    def of(cls, finding: Finding) -> "Fault":
        return cls(**asdict(finding))


class FineTuningJobValidation(BaseModel):
    """What would become of the same body sent to `POST /v1/fine_tuning/jobs`.

    `valid` says that there are no errors. Lengths are in tokens, `latency_ms` in milliseconds.
    """

    object: Literal["fine_tuning.job.validation"] = "fine_tuning.job.validation"
    valid: bool
    model: str | None
    method: str
    errors: list[Fault]
    warnings: list[Fault]
    training_file: FileSummary | None
    validation_file: FileSummary | None
    overlap: Overlap | None
    endpoints: list[EndpointCheck]
    estimate: Estimate | None

    @classmethod
    def of(cls, report: PreflightReport) -> "FineTuningJobValidation":
        dataset = report.dataset or DatasetReport(None, None, None, ())
        faults = [Fault.of(finding) for finding in report.findings]
        return cls(
            valid=report.valid,
            model=report.model,
            method=report.method,
            errors=[fault for fault in faults if fault.severity == "error"],
            warnings=[fault for fault in faults if fault.severity == "warning"],
            training_file=dataset.training,
            validation_file=dataset.validation,
            overlap=dataset.overlap,
            endpoints=list(report.endpoints),
            estimate=report.estimate,
        )
