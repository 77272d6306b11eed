"""List pages of registered objects and of their versions."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from app.api.schemas.common import Page
from app.api.schemas.registry import RegisteredObject
from app.domain.registry.registered_objects import Registered

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


Found = tuple[Sequence[Registered], bool]
"""Rows of a page, and whether more follow."""


def objects_page(to_wire: Callable[[Registered], Row], found: Found) -> Page[Row]:
    return _page(to_wire, found, cursor=lambda row: row.id)


def versions_page(to_wire: Callable[[Registered], Row], found: Found) -> Page[Row]:
    """Versions of one object have one id, so their numbers are the cursors."""
    return _page(to_wire, found, cursor=lambda row: str(row.version))


def _page(
    to_wire: Callable[[Registered], Row], found: Found, *, cursor: Callable[[Registered], str]
) -> Page[Row]:
    rows, has_more = found
    return Page(
        data=[to_wire(row) for row in rows],
        has_more=has_more,
        first_id=cursor(rows[0]) if rows else None,
        last_id=cursor(rows[-1]) if rows else None,
    )
