"""Reads a job's events: pages newest first, or those after a position oldest first."""

from app.domain.accounts.tenants import Tenant
from app.domain.jobs.jobs import JobEvent
from app.store.database import Database


class EventService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[JobEvent], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.events.page(job_id, after=after, limit=limit)

    async def messages(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[JobEvent], bool]:
        """Returns a page of the events for people: all but those of metrics, newest first."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.events.page(job_id, after=after, limit=limit, type="message")

    async def tracker_links(self, job_id: str) -> list[tuple[str, str]]:
        """Returns name and address of each tracker that shows the job."""
        async with self._database.tenant(self._tenant) as unit:
            events = await unit.events.links(job_id)
        found = [event.data or {} for event in events]
        return [(str(one.get("tracker")), str(one["url"])) for one in found]
