"""Checkpoints of a job, newest first; each is a model that can be called."""

from app.domain.accounts.tenants import Tenant
from app.domain.jobs.jobs import Checkpoint
from app.store.database import Database


class CheckpointService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[Checkpoint], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.checkpoints.page(job_id, after=after, limit=limit)
