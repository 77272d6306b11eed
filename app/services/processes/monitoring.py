"""Reads the health and the jobs of the installation for the metrics of an API process."""

from app.domain.errors import Unavailable
from app.domain.jobs.status_counts import StatusCount
from app.domain.processes.health import Health
from app.services.processes.health import HealthService
from app.store.database import Database


class MonitoringService:
    def __init__(self, database: Database, health: HealthService) -> None:
        self._database = database
        self._health = health

    async def look(self) -> tuple[Health, list[StatusCount] | None]:
        """Returns the state of the parts, and the jobs of all tenants by status: `None` while the
        database does not answer.
        """
        health = await self._health.look()
        try:
            return health, await self._database.status_counts()
        except Unavailable:
            return health, None
