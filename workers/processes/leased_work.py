"""Describes one kind of work of child processes under a lease, such as jobs or eval runs.

A kind needs a table with the columns of `QueuedRow`, a subclass of `QueuedRows`, and a module that
runs a child (`workers.processes.child`). Everything else in this room works for all kinds.
"""

import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import structlog

from app.domain.accounts.quotas import Quotas
from app.domain.errors import LeaseLost
from app.gateways.job_queue import JobQueue
from app.settings.runs import LeaseSettings, RetentionSettings
from app.settings.settings import Settings
from app.store.across_tenants import ClaimUnitOfWork
from app.store.database import Database
from app.store.leases.leases import Lease
from app.store.leases.queues import QueuedRows
from app.telemetry.spans import SpanName

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LeasedWork:
    noun: str
    """Name of a row in error texts for users."""
    id_name: str
    """Name of a row's id in logs."""
    claims: Callable[[Database], ClaimUnitOfWork[QueuedRows]]
    most_held: Callable[[Quotas], int]
    """Limit of the rows that one project holds at the same time."""
    child: tuple[str, ...]
    """Arguments of the child's interpreter, before those of the lease."""
    notify: Callable[[JobQueue, str], Awaitable[None]]
    """Sends the best-effort notification that a row waits for a worker. The worker that gets it
    claims whichever row is next in the queue.
    """
    queue: str
    """Name of the queue of the notifications."""
    resend_after_s: float
    """Time after which the sweeper sends the notification again."""
    kept_for: Callable[[RetentionSettings], timedelta] | None = None
    """Time after which a row that failed for good expires; `None` for a kind whose rows do not
    expire.
    """
    claim_span: SpanName | None = None
    """Name of the span of a claim, for a kind whose child renews its own lease."""
    is_resumable: bool = True
    """True if a claim continues where an earlier one ended, so that a child may have to release its
    slot for another project's row.
    """

    async def claim(self, database: Database, settings: Settings) -> list[Lease]:
        """Claims the row that is next among all projects, if there is one; see
        `app.store.leases.queues`.
        """
        owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        async with self.claims(database).giving_up_after(settings.lease.heartbeat_s) as unit:
            lease = await unit.leases.claim_next(
                owner,
                settings.lease.lease_s,
                max_attempts=settings.lease.max_attempts,
                most_held=self.most_held(settings.quotas),
            )
        if lease is None:
            log.info("nothing to claim", noun=self.noun)
            return []
        return [lease]

    async def renew(self, database: Database, lease: Lease, *, limits: LeaseSettings) -> bool:
        """Extends the lease, and returns False when its holder has ended the row. Raises
        `LeaseLost`, and `Unavailable` while another transaction has the row locked, such as one of
        a process that was stopped.
        """
        async with self.claims(database).giving_up_after(limits.heartbeat_s) as unit:
            try:
                await unit.leases.renew(lease, limits.lease_s)
            except LeaseLost:
                if not await unit.leases.ended_by_holder(lease):
                    raise
                return False
        return True

    def named(self, row_id: str) -> dict[str, str]:
        """Returns the row's id as a field of a log line."""
        return {self.id_name: row_id}

    def command(self, lease: Lease) -> tuple[str, ...]:
        return (*self.child, lease.id, lease.project_id, str(lease.fence))


def python_module(name: str) -> tuple[str, ...]:
    """Returns the interpreter's arguments that run a module."""
    return ("-m", name)
