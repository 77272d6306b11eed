"""Keyset pages: a page begins after the last row of the page before.

A query for one row more than the page needs shows whether another page follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.domain.faults.values import unknown_cursor

Row = TypeVar("Row")
MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""Limit of a page of large rows in bytes: a reply with a hundred rows of 4 MB would take a gigabyte
of memory.
"""


@dataclass(frozen=True, slots=True)
class Keyset:
    """The order of a listing: columns that are unique together, all in one direction."""

    columns: tuple[Any, ...]
    descending: bool = False

    async def page(
        self,
        session: AsyncSession,
        query: Select[Row],
        *,
        after: str | None,
        cursor: Sequence[ColumnElement[bool]],
        limit: int,
    ) -> tuple[list[Row], bool]:
        """Returns one page, and whether another follows. Raises the errors of `start_after`."""
        query = await self.start_after(session, query, after=after, cursor=cursor)
        return cut((await session.scalars(query.limit(limit + 1))).all(), limit)

    async def start_after(
        self,
        session: AsyncSession,
        query: Select[*tuple[Any, ...]],
        *,
        after: str | None,
        cursor: Sequence[ColumnElement[bool]],
    ) -> Any:
        """Orders a query and restricts it to rows after the row `after`.

        `cursor` is the condition for that row, which the listing itself may leave out. Raises
        `InvalidRequest` when no row meets it.
        """
        if after is not None:
            last_row = (await session.execute(select(*self.columns).where(*cursor))).one_or_none()
            if last_row is None:
                raise unknown_cursor(after)
            position = tuple_(*self.columns)
            query = query.where(
                position < tuple_(*last_row) if self.descending else position > tuple_(*last_row)
            )
        return query.order_by(
            *(column.desc() if self.descending else column for column in self.columns)
        )


def cut(rows: Sequence[Row], limit: int) -> tuple[list[Row], bool]:
    """Returns the page, and whether another follows."""
    return list(rows[:limit]), len(rows) > limit


def fitting(sizes: Sequence[int], limit: int) -> int:
    """Returns the number of rows of these sizes in bytes that fit a page: from 1 to `limit`."""
    count, total = 0, 0
    for size in sizes[:limit]:
        total += size
        if count and total > MAX_PAGE_BYTES:
            break
        count += 1
    return count
