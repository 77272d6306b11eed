"""Reads a file as the training file of a job, by the same check as `POST …/jobs/validate`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from app.dashboard.visitors import Visitor
from app.domain.faults.issues import PreflightIssue
from app.domain.jobs.creation.preflight import FileSummary
from app.domain.methods.supervised import MethodType

METHODS: Final[tuple[MethodType, ...]] = get_args(MethodType)
_PARAM: Final = "training_file"


@dataclass(frozen=True, slots=True)
class FileStatistics:
    summary: FileSummary | None
    """`None` for a file that no job may read."""
    issues: Sequence[PreflightIssue]
    """The issues about the file and the model."""


async def file_statistics(
    visitor: Visitor, file_id: str, method: MethodType, *, model: str
) -> FileStatistics:
    """Counts rows, faults, repeats and tokens. Raises `Unavailable` for a file that takes too
    long.
    """
    body: dict[str, Any] = {
        "model": model,
        _PARAM: file_id,
        "method": {"type": method, method: {}},
    }
    report = await visitor.services.preflight().check(body, None, ())
    summary = None if report.dataset is None else report.dataset.training
    return FileStatistics(summary, [one for one in report.issues if one.param in (_PARAM, "model")])
