"""Rollouts of a job with their traces, training ones included, and the paired report."""

from typing import Any

from app.domain.errors import NotFound
from app.domain.ids import Split
from app.domain.rollouts import RolloutRow
from app.domain.tenants import Tenant
from app.store.database import Database


class RolloutService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self,
        job_id: str,
        *,
        split: Split | None,
        step: int | None,
        after: str | None,
        limit: int,
    ) -> tuple[list[RolloutRow], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.page(
                job_id, split=split, step=step, after=after, limit=limit
            )

    async def get(self, job_id: str, rollout_id: str) -> RolloutRow:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.rollouts.get(job_id, rollout_id)

    async def report(self, job_id: str) -> dict[str, Any]:
        """Base against tuned on held-out rows. Raises `NotFound` until the job has succeeded."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            report = await unit.reports.get(job_id)
        if report is None:
            raise NotFound(f"Job {job_id} has no report yet.", code="report_not_ready")
        return report
