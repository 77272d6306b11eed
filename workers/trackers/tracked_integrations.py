"""The trackers that are followed: one for each integration of a job that the service writes to."""

from dataclasses import dataclass
from typing import Any

from app.domain.jobs.integrations import TrackerKind, trackers_of
from app.store.database import Database
from app.store.events.reader import event_reader
from app.store.jobs.tracked_jobs import TrackedJob, tracked_jobs

Key = tuple[str, str]
"""Name of the consumer of events, and the job's id, which is its scope."""


@dataclass(frozen=True, slots=True)
class TrackedIntegration:
    """One tracker of one job."""

    job: TrackedJob
    position: int
    """Position of the integration in the job."""
    kind: TrackerKind

    @property
    def consumer(self) -> str:
        """Name of the consumer of events, whose scope is the job."""
        return f"tracker:{self.position}:{self.kind}"

    @property
    def key(self) -> Key:
        return self.consumer, self.job.id

    @property
    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = self.job.integrations[self.position][self.kind]
        return options


async def tracked_integrations(database: Database) -> list[TrackedIntegration]:
    """Returns the trackers of all jobs for which something is left to write, or may come."""
    async with tracked_jobs(database) as unit:
        jobs = await unit.tracked.all()
    followed = [
        TrackedIntegration(job, position, kind)
        for job in jobs
        for position, kind in trackers_of(job.integrations)
    ]
    if not followed:
        return []
    async with event_reader(database) as unit:
        consumers = {tracked.consumer for tracked in followed}
        ended = await unit.cursors.ended(consumers, {tracked.job.id for tracked in followed})
    return [tracked for tracked in followed if tracked.key not in ended]
