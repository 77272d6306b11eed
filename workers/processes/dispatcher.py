"""Claims a row and starts its child, without blocking the Celery task that requests it.

The control queue also carries sweeps, which must not wait for an eval of hours. Promises that a
project without a place gets one: while it waits, no other project keeps two places of a full
worker, nor one for longer than a call to an endpoint may take. A child that gives its place back
releases its lease, and another claim goes on after its last result.
"""

from collections import Counter

import structlog

from app.settings.settings import Settings
from app.store.database import Database
from workers.processes.children import Child, Children
from workers.processes.clients import open_database
from workers.processes.leased_work import LeasedWork

log = structlog.get_logger()


async def dispatch(work: LeasedWork, settings: Settings, *, children: Children) -> bool:
    """Claims the row whose turn it is and starts a child. Returns whether it did; without capacity
    the row waits for the sweeper's next notification.
    """
    async with open_database(settings, pool_size=1) as database:
        if children.is_full:
            await _give_place_back(work, settings, database, children=children)
            return False
        lease = await work.claim(database, settings)
    if lease is None:
        log.info("nothing to claim", noun=work.noun)
        return False
    children.start(work.command(lease), project_id=lease.project_id)
    return True


async def _give_place_back(
    work: LeasedWork, settings: Settings, database: Database, *, children: Children
) -> None:
    """Ends a child whose place another project should have; at most one at a time."""
    child = place_to_give(children.running, longest_s=settings.egress.call_timeout_s)
    if child is None or child.project_id is None:
        return
    async with work.claims(database) as unit:
        others_wait = await unit.leases.other_projects_wait(
            child.project_id, max_attempts=settings.lease.max_attempts
        )
    if others_wait:
        log.info("a place is given to another project", noun=work.noun)
        child.terminate()


def place_to_give(running: list[Child], *, longest_s: float) -> Child | None:
    """Returns the newest child of a project with several places, else the oldest child if it has
    run for `longest_s`; `None` while a child is ending already.
    """
    if any(child.is_ending for child in running):
        return None
    places = Counter(child.project_id for child in running)
    spare = [child for child in running if places[child.project_id] > 1]
    if spare:
        return spare[-1]
    return next((child for child in running if child.age_s > longest_s), None)
