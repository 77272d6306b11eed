"""Marks or removes rows that are older than the operator's retention settings, a few at a time.

The rest of the same round removes the marked rows. A round that was interrupted left every row
either marked or not; the next one marks the others.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Literal, assert_never

import structlog

from app.settings.runs import RetentionSettings
from app.store.database import Database
from app.store.maintenance.maintenance import MaintenanceUnitOfWork, maintenance
from app.store.maintenance.retention import AgedJob, RetainedKind

log = structlog.get_logger()

ForgottenNoun = Literal["audit_logs", "usage_records", "stored_completions", "feedback"]
"""Rows that have no bytes outside the database: they are removed at once."""
_BATCH: Final = 100


async def retire(database: Database, retention: RetentionSettings) -> None:
    """Marks everything that is too old. Jobs go first, with all that belongs to them."""
    counts: dict[str, int] = {}
    aged: tuple[tuple[RetainedKind, float | None], ...] = (
        ("jobs", retention.jobs_days),
        ("checkpoints", retention.checkpoints_days),
        ("rollouts", retention.rollouts_days),
    )
    for kind, days in aged:
        if days is not None:
            counts[kind] = await _mark_jobs(database, kind, days)
    if retention.files_days is not None:
        counts["files"] = await _expire_files(database, retention.files_days)
    for noun, days in _forgotten(retention):
        if days is not None:
            counts[noun] = await _forget(database, partial(_remove, noun, days=days))
    if any(counts.values()):
        log.info("removed by age", **counts)


async def _mark_jobs(database: Database, kind: RetainedKind, days: float) -> int:
    """Returns the number of jobs that were marked."""
    marked, last, full = 0, None, True
    while full:
        async with maintenance(database) as unit:
            jobs = await unit.retention.aged(kind, _BATCH, days=days, after=last)
        for job in jobs:
            marked += await _mark(database, kind, job, days)
        last, full = (jobs[-1] if jobs else None), len(jobs) == _BATCH
    return marked


async def _mark(database: Database, kind: RetainedKind, job: AgedJob, days: float) -> bool:
    async with maintenance(database) as unit:
        return await unit.retention.mark(kind, job, days=days)


async def _expire_files(database: Database, days: float) -> int:
    expired, newly = 0, _BATCH
    while newly == _BATCH:
        async with maintenance(database) as unit:
            newly = await unit.retention.expire_files(_BATCH, days=days)
        expired += newly
    return expired


def _forgotten(retention: RetentionSettings) -> tuple[tuple[ForgottenNoun, float | None], ...]:
    return (
        ("audit_logs", retention.audit_logs_days),
        ("usage_records", retention.usage_days),
        ("stored_completions", retention.completions_days),
        ("feedback", retention.feedback_days),
    )


async def _remove(noun: ForgottenNoun, unit: MaintenanceUnitOfWork, *, days: float) -> int:
    match noun:
        case "audit_logs":
            return await unit.expiry.remove_audit_logs(_BATCH, days=days)
        case "usage_records":
            return await unit.expiry.remove_usage(_BATCH, days=days)
        case "stored_completions":
            return await unit.expiry.remove_completions(_BATCH, days=days)
        case "feedback":
            return await unit.expiry.remove_feedback(_BATCH, days=days)
        case _:
            assert_never(noun)


async def _forget(
    database: Database, remove: Callable[[MaintenanceUnitOfWork], Awaitable[int]]
) -> int:
    """Removes rows of one kind, batch by batch. Returns their number."""
    removed, newly = 0, _BATCH
    while newly == _BATCH:
        async with maintenance(database) as unit:
            newly = await remove(unit)
        removed += newly
    return removed
