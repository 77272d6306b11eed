"""Reads for live streams: the heads of jobs, events after a position, the points of some steps."""

from collections.abc import Sequence
from typing import cast

from sqlalchemy import Select, func, select, true, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.faults.values import unknown_cursor
from app.domain.ids import Split
from app.domain.jobs.jobs import JobEvent, JobStatus
from app.domain.jobs.streams import JobHead
from app.domain.rollouts.metrics import MetricPoint
from app.store.jobs.events import to_event
from app.store.schema.events import JobEventTable as Events
from app.store.schema.jobs import FineTuningJobTable as Jobs
from app.store.schema.metrics import JobMetricTable as Points
from app.store.times import unix_or_none


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
