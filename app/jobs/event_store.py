"""Events of jobs as rows: appended one after another, paged newest first, followed oldest first.

The events of a job are committed in the order of their positions: a writer locks the job's row, so
that the next event is written after this one is committed or rolled back. A reader that follows one
job from a position misses none.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Select, bindparam, func, insert, select, true, tuple_
from sqlalchemy import Table as CoreTable
from sqlalchemy.dialects.postgresql import insert as insert_checkpoints
from sqlalchemy.dialects.postgresql import insert as insert_reports
from sqlalchemy.ext.asyncio import AsyncSession

from app.events.store import log_job_event
from app.jobs.jobs import Checkpoint, EventKind, EventLevel, JobEvent, JobHead, JobStatus
from app.jobs.tables import CheckpointTable as TableCheckpoints
from app.jobs.tables import FineTuningJobTable
from app.jobs.tables import FineTuningJobTable as Jobs
from app.jobs.tables import JobEventTable as Events
from app.jobs.tables import JobEventTable as Table
from app.jobs.tables import JobMetricTable as Points
from app.jobs.tables import ReportTable as TableReports
from app.kit.faults import unknown_cursor
from app.kit.ids import Split, new_id
from app.kit.sql import Keyset, from_row, storable, unix_or_none
from app.models.export_store import checkpoint_dropped
from app.models.store import checkpoint_in_use
from app.rollouts.metrics import MetricPoint

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
        message: str,
        level: EventLevel = "info",
        type: EventKind = "message",  # noqa: A002 - the wire's own word
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
            await self.append(job_id, level=level, message=message, data=whole)
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
    return from_row(
        JobEvent, row, level=cast("EventLevel", row.level), type=cast("EventKind", row.type)
    )


class StreamStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def heads(self, job_ids: Sequence[str]) -> dict[str, JobHead]:
        """Returns the heads of those jobs that exist, by id."""
        newest = select(func.max(Events.seq)).where(Events.job_id == Jobs.id).scalar_subquery()
        query = select(Jobs.id, Jobs.status, Jobs.step, Jobs.estimated_finish, newest).where(
            Jobs.id.in_(job_ids), Jobs.deleted_at.is_(None)
        )
        return {
            job_id: JobHead(JobStatus(status), step, unix_or_none(finish), newest or 0)
            for job_id, status, step, finish, newest in await self._session.execute(query)
        }

    async def position(self, job_id: str, event_id: str, *, sent_as: str) -> int:
        """Returns the position of an event. Raises `InvalidRequest` with the parameter `sent_as` if
        the job has no such event.
        """
        query = select(Events.seq).where(Events.job_id == job_id, Events.id == event_id)
        found = await self._session.scalar(query)
        if found is None:
            raise unknown_cursor(event_id, sent_as)
        return found

    async def events(self, job_id: str, *, behind: int, limit: int) -> list[tuple[int, JobEvent]]:
        """Returns the events after a position, with their positions, oldest first."""
        query = (
            select(Events)
            .where(Events.job_id == job_id, Events.seq > behind)
            .order_by(Events.seq)
            .limit(limit)
        )
        return [(row.seq, to_event(row)) for row in await self._session.scalars(query)]

    async def points(self, job_id: str, steps: Sequence[int]) -> list[MetricPoint]:
        """Returns the points of some steps. Goes from curve to curve along the primary key: a long
        job has a hundred curves, and a million points.
        """
        curves = _curves(job_id).subquery()
        query = select(Points).join(
            curves, (Points.name == curves.c.name) & (Points.split == curves.c.split)
        )
        rows = await self._session.scalars(
            query.where(Points.job_id == job_id, Points.step.in_(steps)).order_by(
                Points.step, Points.name, Points.split
            )
        )
        return [
            MetricPoint(row.name, cast("Split", row.split), row.step, row.value) for row in rows
        ]


def _curves(job_id: str) -> Select[tuple[str, str]]:
    """Selects names and splits of a job's curves, each by a look-up after the previous one."""
    curve_key = (Points.name, Points.split)
    first = select(*curve_key).where(Points.job_id == job_id).order_by(*curve_key).limit(1)
    found = select(first.subquery()).cte("curves", recursive=True)
    following = (
        select(*curve_key)
        .where(Points.job_id == job_id, tuple_(*curve_key) > tuple_(found.c.name, found.c.split))
        .order_by(*curve_key)
        .limit(1)
        .lateral()
    )
    found = found.union_all(select(following).select_from(found.join(following, true())))
    return select(found.c.name, found.c.split)


class ReportStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def upsert(self, job_id: str, report: dict[str, Any]) -> None:
        query = insert_reports(TableReports).values(
            project_id=self._project_id, job_id=job_id, report=storable(report)
        )
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[TableReports.project_id, TableReports.job_id],
                set_={"report": query.excluded.report},
            )
        )

    async def get(self, job_id: str) -> dict[str, Any] | None:
        return await self._session.scalar(
            select(TableReports.report).where(TableReports.job_id == job_id)
        )


_NEWEST_FIRST_CHECKPOINTS = Keyset((TableCheckpoints.step,), descending=True)


class CheckpointStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, checkpoint: Checkpoint, *, object_key: str) -> None:
        """Inserts the checkpoint of a step; does nothing when the step has one already."""
        await self._session.execute(
            insert_checkpoints(TableCheckpoints)
            .values(
                id=checkpoint.id,
                project_id=self._project_id,
                job_id=checkpoint.job_id,
                step=checkpoint.step,
                model_name=checkpoint.model_name,
                object_key=object_key,
                metrics=storable(checkpoint.metrics),
            )
            .on_conflict_do_nothing(index_elements=[TableCheckpoints.job_id, TableCheckpoints.step])
        )

    async def object_keys(self, job_id: str) -> frozenset[str]:
        """Returns the object keys of the adapters that must not be deleted."""
        return frozenset((await self.kept(job_id)).values())

    async def kept(self, job_id: str) -> dict[int, str]:
        """Maps the step of each checkpoint that was not dropped to its adapter's object key."""
        query = select(TableCheckpoints.step, TableCheckpoints.object_key).where(
            TableCheckpoints.job_id == job_id, ~checkpoint_dropped()
        )
        return {row.step: row.object_key for row in await self._session.execute(query)}

    async def all(self, job_id: str) -> list[Checkpoint]:
        """Returns all checkpoints by step, including dropped ones."""
        query = (
            select(TableCheckpoints)
            .where(TableCheckpoints.job_id == job_id)
            .order_by(TableCheckpoints.step)
        )
        return [_to_checkpoint(row) for row in await self._session.scalars(query)]

    async def needed(self, job_id: str) -> frozenset[int]:
        """Returns the steps whose models are in use by another project, a job or an eval."""
        query = select(TableCheckpoints.step).where(
            TableCheckpoints.job_id == job_id, checkpoint_in_use()
        )
        return frozenset(await self._session.scalars(query))

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[Checkpoint], bool]:
        """Leaves out dropped checkpoints; a page may still begin after one."""
        page, more = await _NEWEST_FIRST_CHECKPOINTS.page(
            self._session,
            select(TableCheckpoints).where(
                TableCheckpoints.job_id == job_id, ~checkpoint_dropped()
            ),
            after=after,
            cursor=[TableCheckpoints.id == after, TableCheckpoints.job_id == job_id],
            limit=limit,
        )
        return [_to_checkpoint(row) for row in page], more


def _to_checkpoint(row: TableCheckpoints) -> Checkpoint:
    return from_row(Checkpoint, row)
