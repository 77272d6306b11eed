"""Marks or removes rows that are older than the operator's retention settings, a few at a time.

The rest of the same round removes the marked rows. A round that was interrupted left every row
either marked or not; the next one marks the others.
"""

from typing import Final

import structlog

from app.settings.runs import RetentionSettings
from app.store.database import Database
from app.store.maintenance.maintenance import maintenance
from app.store.maintenance.retention import AgedJob, RetainedKind

log = structlog.get_logger()

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
    if retention.audit_logs_days is not None:
        counts["audit_logs"] = await _forget_changes(database, retention.audit_logs_days)
    if retention.usage_days is not None:
        counts["usage_records"] = await _forget_usage(database, retention.usage_days)
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


async def _forget_changes(database: Database, days: float) -> int:
    """Removes entries of the audit log. Returns their number."""
    removed, newly = 0, _BATCH
    while newly == _BATCH:
        async with maintenance(database) as unit:
            newly = await unit.expiry.remove_audit_logs(_BATCH, days=days)
        removed += newly
    return removed


async def _forget_usage(database: Database, days: float) -> int:
    """Removes records of usage. Returns their number."""
    removed, newly = 0, _BATCH
    while newly == _BATCH:
        async with maintenance(database) as unit:
            newly = await unit.expiry.remove_usage(_BATCH, days=days)
        removed += newly
    return removed
