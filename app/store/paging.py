"""Keyset pages: a page begins after the last row that the caller has seen.

A query for one row more than the page holds shows whether another page follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Select, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.domain.errors import InvalidRequest

Row = TypeVar("Row")
MAX_PAGE_BYTES: Final = 8 * 1024 * 1024
"""Limit for rows that may be large each: a hundred of 4 MB would take a gigabyte to answer."""


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
        """Returns one page, and whether another one follows. Raises as `start_after`."""
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
        """Orders a query, and lets it begin behind the row `after`.

        `cursor` finds that row, among rows that the listing itself may leave out. Raises
        `InvalidRequest` when there is no such row.
        """
        if after is not None:
            seen = (await session.execute(select(*self.columns).where(*cursor))).one_or_none()
            if seen is None:
                raise unknown_cursor(after)
            position = tuple_(*self.columns)
            query = query.where(
                position < tuple_(*seen) if self.descending else position > tuple_(*seen)
            )
        return query.order_by(
            *(column.desc() if self.descending else column for column in self.columns)
        )


def cut(rows: Sequence[Row], limit: int) -> tuple[list[Row], bool]:
    """Returns the page, and whether another one follows."""
    return list(rows[:limit]), len(rows) > limit


def fitting(sizes: Sequence[int], limit: int) -> int:
    """Returns how many rows of these sizes in bytes fit a page: at most `limit`, one at least."""
    count, total = 0, 0
    for size in sizes[:limit]:
        total += size
        if count and total > MAX_PAGE_BYTES:
            break
        count += 1
    return count


def unknown_cursor(after: str) -> InvalidRequest:
    return InvalidRequest(f"No object with id '{after}' to continue after.", param="after")
