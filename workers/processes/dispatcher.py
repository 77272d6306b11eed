"""Claims a row and starts its child, without blocking the Celery task that requests it.

The control queue also carries sweeps, which must not wait for an eval of hours. Promises that a
project without a slot gets one: while it waits, no other project keeps two slots of a full worker,
nor one for longer than a call to an endpoint may take. A child that gives its slot back releases
its lease, and another claim goes on after its last result.
"""

from collections import Counter

import structlog

from app.settings.settings import Settings
from app.store.database import Database
from workers.processes.children import Children, TaskChild
from workers.processes.clients import open_database
from workers.processes.leased_work import LeasedWork

log = structlog.get_logger()


async def dispatch(work: LeasedWork, settings: Settings, *, children: Children) -> bool:
    """Claims the row that is next in the queue and starts a child. Returns whether it did; without
    capacity the row waits for the sweeper's next notification.
    """
    async with open_database(settings, pool_size=1) as database:
        if children.is_full:
            if work.goes_on:
                await _free_slot(work, settings, database, children=children)
            return False
        lease = await work.claim(database, settings)
    if lease is None:
        log.info("nothing to claim", noun=work.noun)
        return False
    children.start(work.command(lease), project_id=lease.project_id)
    return True


async def _free_slot(
    work: LeasedWork, settings: Settings, database: Database, *, children: Children
) -> None:
    """Ends a child whose slot another project should have; at most one at a time."""
    child = child_to_end(children.running, longest_s=settings.egress.call_timeout_s)
    if child is None or child.project_id is None:
        return
    async with work.claims(database) as unit:
        others_wait = await unit.leases.other_projects_wait(
            child.project_id, max_attempts=settings.lease.max_attempts
        )
    if others_wait:
        log.info("a slot is given to another project", noun=work.noun)
        child.terminate()


def child_to_end(running: list[TaskChild], *, longest_s: float) -> TaskChild | None:
    """Returns the newest child of a project with several slots, else the oldest child if it has
    run for `longest_s`; `None` while a child is ending already.
    """
    if any(child.is_ending for child in running):
        return None
    slots = Counter(child.project_id for child in running)
    spare = [child for child in running if slots[child.project_id] > 1]
    if spare:
        return spare[-1]
    return next((child for child in running if child.age_s > longest_s), None)
