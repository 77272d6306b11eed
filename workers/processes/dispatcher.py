"""Claims a row and starts its child, without blocking the Celery task that requests it. The control
queue also carries sweeps, which must not wait for an eval of hours. An organization or project
without a slot gets one: while it waits on a full worker, no other organization (or project) keeps
two slots, and no project keeps one for longer than a call to an endpoint may take. A child that
returns its slot releases its lease, and another claim continues after its last result.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Final

import structlog

from app.database import Database
from app.kit.errors import Unavailable
from app.kit.job_queue import JobQueue
from app.kit.leases import Lease
from app.settings import RetentionSettings, Settings
from workers.processes.clients import PeriodicTaskClients, open_database
from workers.processes.forking.forks import Children, TaskChild
from workers.processes.leased_work import ClaimLoop, LeasedWork, python_module
from workers.telemetry.process_metrics import show_waiting

log = structlog.get_logger()


async def start_if_due(
    module: str, due: Callable[[], Awaitable[object]], *, children: Children
) -> bool:
    """Returns whether a process of the module runs now."""
    if children.is_full:
        return True
    try:
        if not await due():
            return False
    except Unavailable as error:
        log.warning("not checked, database unavailable", child=module, error=str(error))
        return False
    children.start(python_module(module))
    return True


async def dispatch(work: LeasedWork, settings: Settings, *, children: Children) -> bool:
    async with open_database(settings, pool_size=1) as database:
        if children.is_full:
            if work.is_resumable:
                await _free_slot(work, settings, database, children=children)
            return False

        def start(lease: Lease) -> None:
            children.start(work.command(lease), project_id=lease.project_id)

        # A wait would block the sweeps of the same queue; the sweeper sends another notification.
        claim = partial(work.claim, database, settings)
        return await ClaimLoop(claim, start, patience_s=0).claim()


async def _free_slot(
    work: LeasedWork, settings: Settings, database: Database, *, children: Children
) -> None:
    """Ends a child whose slot is due to another organization or project; at most one at a time."""
    running = children.running
    if any(child.is_ending for child in running):
        return
    longest_s = settings.egress.call_timeout_s
    async with work.claims(database) as unit:
        organization_of = await unit.leases.organizations_of(
            [child.project_id for child in running if child.project_id is not None]
        )
        for child, siblings in (
            (newest_of_several(running, organization_of), False),
            (child_to_end(running, longest_s=longest_s), True),
        ):
            if child is None or child.project_id is None:
                continue
            if await unit.leases.others_come_first(
                child.project_id,
                max_attempts=settings.lease.max_attempts,
                most_held=work.most_held(settings.quotas),
                siblings=siblings,
            ):
                log.info("a slot is given to others", noun=work.noun)
                child.terminate()
                return


def newest_of_several(running: list[TaskChild], owner_of: Mapping[str, str]) -> TaskChild | None:
    owners = [owner_of.get(child.project_id or "") for child in running]
    spare = [
        child
        for child, owner in zip(running, owners, strict=True)
        if owner is not None and owners.count(owner) > 1
    ]
    return spare[-1] if spare else None


def child_to_end(running: list[TaskChild], *, longest_s: float) -> TaskChild | None:
    """The newest one of a project with several slots, else the oldest if it ran for `longest_s`."""
    projects = {child.project_id: child.project_id for child in running if child.project_id}
    spare = newest_of_several(running, projects)
    return spare or next((child for child in running if child.age_s > longest_s), None)


MOST_UNREAD: Final = 10


async def sweep_all(clients: PeriodicTaskClients, kinds: Iterable[LeasedWork]) -> None:
    settings = clients.settings
    for work in kinds:
        try:
            await sweep(
                work,
                clients.database,
                clients.queue,
                max_attempts=settings.lease.max_attempts,
                retention=settings.retention,
            )
            async with work.claims(clients.database) as unit:
                show_waiting(work.noun, await unit.leases.waiting())
                await unit.leases.tell_waiting(most_held=work.most_held(settings.quotas))
        except Unavailable as error:
            show_waiting(work.noun, math.nan)
            log.warning("sweep skipped, database unavailable", noun=work.noun, error=str(error))


async def sweep(
    work: LeasedWork,
    database: Database,
    queue: JobQueue,
    *,
    max_attempts: int,
    retention: RetentionSettings | None = None,
) -> list[str]:
    message = f"The {work.noun}'s worker crashed {max_attempts} times without progress."
    kept_for = work.kept_for and work.kept_for(retention or RetentionSettings())
    async with work.claims(database) as unit:
        for lease in await unit.leases.exhausted(max_attempts):
            await unit.leases.fail(lease, message, kept_for=kept_for)
            log.error("failed for good", reason=message, **work.named(lease.id))
    unread = await queue.unread(work.queue)
    if unread is None:
        log.warning("no notification sent, broker unavailable", noun=work.noun)
        return []
    if unread >= MOST_UNREAD:
        return []
    async with work.claims(database) as unit:
        due = await unit.leases.due(MOST_UNREAD - unread, work.resend_after_s)
    for row_id in due:
        await work.notify(queue, row_id)
    return due
