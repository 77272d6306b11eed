"""List pages of registered objects and of their versions."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from app.kit.schemas import Page, object_page, page_with_cursors
from app.tools.registry import RegisteredVersion
from app.tools.schemas import RegisteredObject

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


Found = tuple[Sequence[RegisteredVersion], bool]
"""Rows of a page, and whether more follow."""


def objects_page(to_wire: Callable[[RegisteredVersion], Row], found: Found) -> Page[Row]:
    rows, has_more = found
    return object_page([to_wire(row) for row in rows], has_more=has_more)


def versions_page(to_wire: Callable[[RegisteredVersion], Row], found: Found) -> Page[Row]:
    """Versions of one object have one id, so their numbers are the cursors."""
    rows, has_more = found
    versions = [str(row.version) for row in rows]
    return page_with_cursors([to_wire(row) for row in rows], versions, has_more=has_more)
