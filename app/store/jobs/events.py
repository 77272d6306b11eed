"""Events of jobs as rows: appended one after another, paged newest first, followed oldest first.

Promises that the events of a job are committed in the order of their positions: a writer locks the
job's row, so that the next event is written after this one is committed or rolled back. A reader
that follows one job from a position misses none.
"""

from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import Table as CoreTable
from sqlalchemy import bindparam, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.ids import new_id
from app.domain.jobs.jobs import EventKind, EventLevel, JobEvent
from app.store.events.log import log_job_event
from app.store.paging import Keyset
from app.store.schema.events import JobEventTable as Table
from app.store.schema.jobs import FineTuningJobTable
from app.store.storable import storable
from app.store.times import unix

_MOST_LINKS = 20
_NEWEST_FIRST = Keyset((Table.seq,), descending=True)
_INSERT = insert(cast("CoreTable", Table.__table__))
_LOCK_JOB = (
    select(FineTuningJobTable.id)
    .where(FineTuningJobTable.id == bindparam("job"))
    .with_for_update(key_share=True)
)


def event_row(
    project_id: str, job_id: str, message: str, *, level: EventLevel = "info"
) -> dict[str, Any]:
    """Returns the row of a plain message, by column."""
    return {
        "id": new_id("ftevent-"),
        "project_id": project_id,
        "job_id": job_id,
        "level": level,
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
        level: EventLevel,
        type: EventKind,  # noqa: A002 - the wire's own word
        message: str,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Appends an event, and locks the job's row until the transaction ends."""
        await self._session.execute(_LOCK_JOB, {"job": job_id})
        row = event_row(self._project_id, job_id, message)
        row |= {"level": level, "type": type, "data": storable(data)}
        await self._session.execute(_INSERT, row)
        await log_job_event(self._session, row)

    async def append_once(
        self,
        job_id: str,
        *,
        level: EventLevel,
        message: str,
        about: str,
        data: Mapping[str, str] | None = None,
    ) -> bool:
        """Appends a message about `about`, a word of the caller's, unless the job has one about it.
        Returns whether it did. Locks the job's row, so that two callers append one.
        """
        await self._session.execute(_LOCK_JOB, {"job": job_id})
        said = await self._session.scalar(
            select(Table.id)
            .where(Table.job_id == job_id, Table.data["about"].astext == about)
            .limit(1)
        )
        if said is None:
            whole = {"about": about, **(data or {})}
            await self.append(job_id, level=level, type="message", message=message, data=whole)
        return said is None

    async def links(self, job_id: str) -> list[JobEvent]:
        """Returns the events with a `url` that people open, oldest first."""
        url = Table.data["url"].astext
        query = select(Table).where(Table.job_id == job_id, url.is_not(None)).order_by(Table.seq)
        return [to_event(row) for row in await self._session.scalars(query.limit(_MOST_LINKS))]

    async def page(
        self,
        job_id: str,
        *,
        after: str | None,
        limit: int,
        type: EventKind | None = None,  # noqa: A002 - the wire's own word
    ) -> tuple[list[JobEvent], bool]:
        query = select(Table).where(Table.job_id == job_id)
        if type is not None:
            query = query.where(Table.type == type)
        page, more = await _NEWEST_FIRST.page(
            self._session,
            query,
            after=after,
            cursor=[Table.id == after, Table.job_id == job_id],
            limit=limit,
        )
        return [to_event(row) for row in page], more


def to_event(row: Table) -> JobEvent:
    return JobEvent(
        id=row.id,
        job_id=row.job_id,
        created_at=unix(row.created_at),
        level=cast("EventLevel", row.level),
        type=cast("EventKind", row.type),
        message=row.message,
        data=row.data,
    )
