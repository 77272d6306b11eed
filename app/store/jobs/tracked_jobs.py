"""Jobs whose curves are written to trackers of experiments, for the GPU plane only.

Owns the choice of the jobs that are followed. Must not know how a tracker is written.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.store.across_tenants import CrossTenantUnitOfWork
from app.store.database import Database
from app.store.schema.jobs import FineTuningJobTable as Table

GIVE_UP_AFTER_S: Final = 24 * 3600.0
"""Seconds after the end of a job for which a tracker that fails is tried again."""


@dataclass(frozen=True, slots=True)
class TrackedJob:
    id: str
    project_id: str
    integrations: list[dict[str, Any]]
    has_ended: bool


class TrackedJobStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def all(self) -> list[TrackedJob]:
        """Returns the jobs with integrations that have not ended, or ended not long ago."""
        recent = func.now() - timedelta(seconds=GIVE_UP_AFTER_S)
        query = select(
            Table.id, Table.project_id, Table.integrations, Table.finished_at.is_not(None)
        ).where(
            Table.deleted_at.is_(None),
            or_(Table.finished_at.is_(None), Table.finished_at > recent),
            func.jsonb_array_length(Table.integrations) > 0,
        )
        rows = await self._session.execute(query.order_by(Table.created_at, Table.id))
        return [TrackedJob(*row) for row in rows]


class TrackedJobsUnitOfWork(CrossTenantUnitOfWork):
    """A transaction that sees the tracked jobs of all tenants."""

    @override
    async def _open(self, session: AsyncSession) -> None:
        self.tracked = TrackedJobStore(session)


def tracked_jobs(database: Database) -> TrackedJobsUnitOfWork:
    """Returns a transaction that lists tracked jobs; only the worker's role gets any."""
    return TrackedJobsUnitOfWork(database)
