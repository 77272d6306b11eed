"""Reads one job of a project for a process that has no lease on it: its row, its sealed secrets,
and its curves, rollouts and report.
"""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.domain.errors import NotFound
from app.domain.jobs.jobs import Job
from app.store.database import Database
from app.store.jobs.rows import to_job
from app.store.schema.jobs import FineTuningJobTable as Table
from app.store.transactions.base_unit import Sessions
from app.store.unit_of_work import ProjectUnitOfWork


class JobReaderUnitOfWork(ProjectUnitOfWork):
    """A transaction of one project, in which a process without a lease reads a job."""

    def __init__(self, sessions: Sessions, project_id: str) -> None:
        super().__init__(sessions, {"app.project": project_id})
        self._project_id = project_id

    @override
    async def _open(self, session: AsyncSession) -> None:
        self._open_project(session, self._project_id)

    async def job(self, job_id: str) -> Job:
        """Raises `NotFound` for a job that was deleted."""
        query = select(Table).where(Table.id == job_id, Table.deleted_at.is_(None))
        row = await self._session.scalar(query)
        if row is None:
            raise NotFound(f"No job {job_id}.")
        return to_job(row)

    async def secrets(self, job_id: str) -> bytes | None:
        """Returns the sealed secrets of the job."""
        return await self._session.scalar(select(Table.secrets).where(Table.id == job_id))


def job_reader(database: Database, project_id: str) -> JobReaderUnitOfWork:
    """Returns a transaction of one project."""
    return JobReaderUnitOfWork(database.sessions, project_id)
