"""Counts of the installation's jobs, without their tenants."""

from dataclasses import dataclass

from app.domain.jobs.jobs import JobStatus


@dataclass(frozen=True, slots=True)
class StatusCount:
    """The jobs of one status, of all tenants together. Deleted ones are left out."""

    status: JobStatus
    jobs: int
    oldest_s: float
    """Seconds since the oldest of them was queued."""
