"""Events of jobs as rows, newest first."""

from typing import Any, Literal, cast

from sqlalchemy import Table as CoreTable
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.ids import new_id
from app.domain.jobs.jobs import JobEvent
from app.store.paging import cut, unknown_cursor
from app.store.schema.events import JobEventTable as Table
from app.store.storable import storable
from app.store.times import unix

Level = Literal["info", "warn", "error"]
Type = Literal["message", "metrics"]
_INSERT = insert(cast("CoreTable", Table.__table__))


def event_row(project_id: str, job_id: str, message: str) -> dict[str, Any]:
    """What is written of a plain message, by column."""
    return {
        "id": new_id("ftevent-"),
        "project_id": project_id,
        "job_id": job_id,
        "level": "info",
        "type": "message",
        "message": storable(message),
        "data": None,
    }


class EventStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def append(
        self,
        job_id: str,
        *,
        level: Level,
        type: Type,  # noqa: A002 - the wire's own word
        message: str,
        data: dict[str, Any] | None = None,
    ) -> None:
        row = event_row(self._project_id, job_id, message)
        await self._session.execute(
            _INSERT, {**row, "level": level, "type": type, "data": storable(data)}
        )

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[JobEvent], bool]:
        query = select(Table).where(Table.job_id == job_id).order_by(Table.seq.desc())
        if after is not None:
            seq = await self._session.scalar(
                select(Table.seq).where(Table.id == after, Table.job_id == job_id)
            )
            if seq is None:
                raise unknown_cursor(after)
            query = query.where(Table.seq < seq)
        rows = (await self._session.scalars(query.limit(limit + 1))).all()
        page, more = cut(rows, limit)
        return [_to_event(row) for row in page], more


def _to_event(row: Table) -> JobEvent:
    return JobEvent(
        id=row.id,
        job_id=row.job_id,
        created_at=unix(row.created_at),
        level=cast("Level", row.level),
        type=cast("Type", row.type),
        message=row.message,
        data=row.data,
    )
