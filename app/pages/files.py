"""The pages of files; a file is read by the same check as `POST …/jobs/validate`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from app.files.files import LISTED_PURPOSES
from app.jobs.preflight import FileSummary
from app.jobs.supervised import MethodType
from app.kit.errors import PreflightIssue, refused_value
from app.pages.visitors import After, PageRoute, SignedIn, Visitor

METHODS: Final[tuple[MethodType, ...]] = get_args(MethodType)
_PARAM: Final = "training_file"


@dataclass(frozen=True, slots=True)
class FileStatistics:
    summary: FileSummary | None
    """`None` for a file that no job may read."""
    issues: Sequence[PreflightIssue]


async def file_statistics(
    visitor: Visitor, file_id: str, method: MethodType, *, model: str
) -> FileStatistics:
    """Counts rows, faults, repeats and tokens. Raises `Unavailable` if that takes too long."""
    body: dict[str, Any] = {"model": model, _PARAM: file_id, "method": {"type": method, method: {}}}
    report = await visitor.services.preflight().check(body, None, ())
    summary = None if report.dataset is None else report.dataset.training
    return FileStatistics(summary, [one for one in report.issues if one.param in (_PARAM, "model")])


router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/files")
_FIRST_ROWS: Final = 10
_Name = Annotated[str | None, Query(max_length=200), BeforeValidator(lambda sent: sent or None)]
"""A name of a form's choice; the empty choice is none."""


@router.get("")
async def files_page(visitor: SignedIn, purpose: _Name = None, after: After = None) -> Response:
    if purpose is not None and purpose not in LISTED_PURPOSES:
        raise refused_value("purpose", f"it must be one of {', '.join(LISTED_PURPOSES)}")
    rows, more = await visitor.services.files().page(
        purpose=purpose, after=after, limit=50, order="desc"
    )
    return await visitor.page(
        "files/files.html",
        files=rows,
        more=more,
        purpose=purpose,
        purposes=LISTED_PURPOSES,
        after=after,
    )


@router.get("/{file_id}")
async def file_page(
    file_id: str, visitor: SignedIn, method: MethodType | None = None, model: _Name = None
) -> Response:
    """Shows a file. With `method` it is checked as the training file of such a job."""
    row = await visitor.services.files().get(file_id)
    head = await visitor.services.files().first_rows(file_id, _FIRST_ROWS)
    models = [one.name for one in await visitor.services.models().all() if one.tuned is None]
    found: FileStatistics | None = None
    if method is not None:
        found = await file_statistics(visitor, file_id, method, model=model or models[0])
    return await visitor.page(
        "files/file.html",
        file=row,
        head=head,
        first_rows=_FIRST_ROWS,
        methods=METHODS,
        method=method,
        models=models,
        model=model,
        found=found,
    )
