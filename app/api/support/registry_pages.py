"""List pages of registered objects and of their versions."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from app.api.schemas.common import Page
from app.api.schemas.registry import RegisteredObject

Row = TypeVar("Row", bound=RegisteredObject)
AfterVersion = Annotated[
    int | None,
    Query(
        alias="after",
        ge=1,
        le=2**31 - 1,
        description="Number of the last version of the previous page",
    ),
]


def objects_page(rows: Sequence[Row], *, has_more: bool) -> Page[Row]:
    return Page(
        data=list(rows),
        has_more=has_more,
        first_id=rows[0].id if rows else None,
        last_id=rows[-1].id if rows else None,
    )


def versions_page(rows: Sequence[Row], *, has_more: bool) -> Page[Row]:
    """Versions of one object have one id, so their numbers are the cursors."""
    return Page(
        data=list(rows),
        has_more=has_more,
        first_id=str(rows[0].version) if rows else None,
        last_id=str(rows[-1].version) if rows else None,
    )
