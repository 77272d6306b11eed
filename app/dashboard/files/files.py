"""Routes of files: the list, and one of them."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from app.dashboard.files.file_statistics import METHODS, FileStatistics, file_statistics
from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import page
from app.dashboard.visitors import SignedIn
from app.domain.data.files import LISTED_PURPOSES
from app.domain.errors import refused_value
from app.domain.methods.supervised import MethodType

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/files")
_PAGE: Final = 50
_FIRST_ROWS: Final = 10
_After = Annotated[str | None, Query(max_length=128)]
_Name = Annotated[str | None, Query(max_length=200), BeforeValidator(lambda sent: sent or None)]
"""A name of a form's choice; the empty choice is none."""


@router.get("")
async def files_page(visitor: SignedIn, purpose: _Name = None, after: _After = None) -> Response:
    """Lists the files, newest first."""
    if purpose is not None and purpose not in LISTED_PURPOSES:
        raise refused_value("purpose", f"it must be one of {', '.join(LISTED_PURPOSES)}")
    rows, more = await visitor.services.files().page(
        purpose=purpose, after=after, limit=_PAGE, order="desc"
    )
    return await visitor.on_thread(
        lambda: page(
            "files/files.html",
            form_token=visitor.form_token,
            files=rows,
            more=more,
            purpose=purpose,
            purposes=LISTED_PURPOSES,
            after=after,
        )
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
    return await visitor.on_thread(
        lambda: page(
            "files/file.html",
            form_token=visitor.form_token,
            file=row,
            head=head,
            first_rows=_FIRST_ROWS,
            methods=METHODS,
            method=method,
            models=models,
            model=model,
            found=found,
        )
    )
