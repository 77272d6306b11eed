"""Removes what is expired or deleted, and leftovers of ended jobs. Bytes go before their rows, so
that an interrupted round is continued; bytes that never got a row go by age.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import aclosing, closing
from functools import partial
from pathlib import Path
from typing import Final

import structlog

from app.database import Database
from app.events.reader_store import event_reader
from app.events.store import KEEP_LOG_S
from app.jobs.claims import EndedJob
from app.jobs.integrations import LIBRARIES
from app.kit.errors import Unavailable
from app.kit.objects import Objects, build_objects
from app.maintenance import MaintenanceUnitOfWork, RetainedKind, maintenance
from app.models.engine import AdapterCache, Inference, build_adapter_cache
from app.settings import RetentionSettings
from app.webhooks.events import KEEP_S as KEEP_EVENTS_S
from workers.processes.clients import PeriodicTaskClients, open_inference
from workers.runs.publisher import adapter_prefix, clear_job, unload_all

log = structlog.get_logger()

BATCH = 500
KEEP_S = 24 * 3600.0
"""Rows of deleted files and replies remain this long: a list can page on, a call be repeated."""
SETTLED_S = 600.0
"""In which a claim can still write: a run that lost its lease ends within two heartbeats."""
STRAY_AFTER_S = 3600.0
"""A running upload is never this old: a minute without a byte ends it."""


async def expire_once(clients: PeriodicTaskClients) -> None:
    """An unavailable service ends the round; the next round continues from there."""
    settings = clients.settings
    objects = build_objects(settings)
    async with aclosing(open_inference(settings)) as inference:
        try:
            await expire(
                clients.database,
                objects,
                inference,
                retention=settings.retention,
                adapters=build_adapter_cache(settings, objects),
                trackers_dir=settings.trackers_dir,
            )
        except Unavailable as error:
            log.warning("expiry skipped, a service is unavailable", error=str(error))


async def expire(
    database: Database,
    objects: Objects,
    inference: Inference,
    *,
    retention: RetentionSettings | None = None,
    adapters: AdapterCache | None = None,
    trackers_dir: Path | None = None,
) -> None:
    """`adapters`: the copies on this machine. `trackers_dir`: what trackers wrote."""
    if retention is not None:
        await retire(database, retention)
    await _files(database, objects)
    await _uploads(database, objects)
    await _exports(database, objects)
    for project in await objects.children("projects"):
        files = await objects.children(f"{project.key}/files")
        keys = [file.key for file in files if (file.age_s or 0.0) > STRAY_AFTER_S]
        for start in range(0, len(keys), BATCH):
            await _remove_strays(database, objects, keys[start : start + BATCH])
    await clean_ended(
        database, objects, inference, adapters=adapters, keep_s=KEEP_S, trackers_dir=trackers_dir
    )
    await _rows(database)
    removed = BATCH
    while removed == BATCH:
        async with event_reader(database) as unit:
            removed = await unit.log.forget(BATCH, keep_s=KEEP_LOG_S)


async def _files(database: Database, objects: Objects) -> None:
    while True:
        async with maintenance(database) as unit:
            files = await unit.expiry.files(BATCH, deleted_keep_s=KEEP_S)
        for file in files:
            await objects.delete(file.key)
        if files:
            async with maintenance(database) as unit:
                await unit.expiry.remove_files(files)
        if len(files) < BATCH:
            return


async def _uploads(database: Database, objects: Objects) -> None:
    while True:
        async with maintenance(database) as unit:
            over = await unit.expiry.uploads(BATCH)
        for upload in over:
            await objects.delete(upload.key)
        async with maintenance(database) as unit:
            if over:
                await unit.expiry.end_uploads(over)
            forgotten = await unit.expiry.remove_uploads(BATCH, keep_s=KEEP_S)
        for upload in forgotten:
            await objects.delete(upload.key)
        if max(len(over), len(forgotten)) < BATCH:
            return


async def _exports(database: Database, objects: Objects) -> None:
    while True:
        async with maintenance(database) as unit:
            over = await unit.expiry.exports(BATCH, settled_s=SETTLED_S)
        for export in over:
            await objects.delete(export.key)
        if over:
            async with maintenance(database) as unit:
                await unit.expiry.remove_exports(over)
        if len(over) < BATCH:
            return


async def _rows(database: Database) -> None:
    for remove in (
        lambda unit: unit.expiry.remove_registered_objects(BATCH, keep_s=KEEP_S),
        lambda unit: unit.expiry.remove_stored_responses(BATCH, keep_s=KEEP_S),
        lambda unit: unit.expiry.remove_dashboard_sessions(BATCH),
        lambda unit: unit.expiry.remove_events(BATCH, keep_s=KEEP_EVENTS_S),
    ):
        await _in_batches(database, BATCH, remove)


async def _remove_strays(database: Database, objects: Objects, keys: list[str]) -> None:
    _, project_id, *_ = keys[0].split("/")
    names = {key: key.rpartition("/")[2] for key in keys}
    ids = [name for name in names.values() if name.startswith("file-")]
    async with maintenance(database) as unit:
        known = await unit.expiry.known_files(project_id, ids)
    for key, name in names.items():
        # The name of an interrupted write begins with a dot.
        if name.startswith(("file-", ".file-")) and name not in known:
            log.warning("bytes without a row removed", key=key)
            await objects.delete(key)


_BATCH: Final = 100
_Method = Callable[[MaintenanceUnitOfWork], Callable[..., Awaitable[int]]]


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
    others: tuple[tuple[str, float | None, _Method], ...] = (
        ("files", retention.files_days, lambda unit: unit.retention.expire_files),
        ("audit_logs", retention.audit_logs_days, lambda unit: unit.expiry.remove_audit_logs),
        ("usage_records", retention.usage_days, lambda unit: unit.expiry.remove_usage),
        (
            "stored_completions",
            retention.completions_days,
            lambda unit: unit.expiry.remove_completions,
        ),
        ("feedback", retention.feedback_days, lambda unit: unit.expiry.remove_feedback),
    )
    for noun, days, method in others:
        if days is not None:
            counts[noun] = await _in_batches(database, _BATCH, partial(_aged, method, days))
    if any(counts.values()):
        log.info("removed by age", **counts)


async def _mark_jobs(database: Database, kind: RetainedKind, days: float) -> int:
    marked, last, full = 0, None, True
    while full:
        async with maintenance(database) as unit:
            jobs = await unit.retention.aged(kind, _BATCH, days=days, after=last)
        for job in jobs:
            async with maintenance(database) as unit:
                marked += await unit.retention.mark(kind, job, days=days)
        last, full = (jobs[-1] if jobs else None), len(jobs) == _BATCH
    return marked


def _aged(method: _Method, days: float, unit: MaintenanceUnitOfWork) -> Awaitable[int]:
    return method(unit)(_BATCH, days=days)


async def _in_batches(
    database: Database, size: int, remove: Callable[[MaintenanceUnitOfWork], Awaitable[int]]
) -> int:
    removed, newly = 0, size
    while newly == size:
        async with maintenance(database) as unit:
            newly = await remove(unit)
        removed += newly
    return removed


_POSTPONED_S: Final = 3600.0
_JOBS: Final = 100
_ROWS: Final = 1000


async def clean_ended(
    database: Database,
    objects: Objects,
    inference: Inference,
    *,
    adapters: AdapterCache | None,
    keep_s: float,
    trackers_dir: Path | None = None,
) -> None:
    """Cleans ended jobs. The files of trackers in `trackers_dir` go with the rows that they were
    made from: messages with the rollouts, all files with a deleted job. The next round repeats jobs
    whose adapters the engine did not unload.
    """
    more = True
    while more:
        async with maintenance(database) as unit:
            jobs = await unit.ended_jobs.unclean(_JOBS, settled_s=SETTLED_S)
        unloaded = await _unloaded(inference, jobs)
        for job in jobs:
            await _remove_objects(objects, job)
            if unloaded and adapters is not None:
                for engine_name in job.removed_models:
                    await adapters.forget(engine_name)
            rows = await _remove_rows(database, job)
            if trackers_dir is not None and not await _tracked_removed(trackers_dir, job):
                async with maintenance(database) as unit:
                    await unit.ended_jobs.postpone(job, _POSTPONED_S)
                continue
            async with maintenance(database) as unit:
                gone = await unit.ended_jobs.finish(job, unloaded=unloaded, keep_s=keep_s)
            log.info(
                "leftovers of an ended job removed",
                job_id=job.job_id,
                deleted=job.deleted,
                row_removed=gone,
                rows=rows,
                adapters_kept=len(job.adapters),
            )
        more = unloaded and len(jobs) == _JOBS


async def _tracked_removed(trackers_dir: Path, job: EndedJob) -> bool:
    """Returns whether that worked: a file that cannot be removed ends no round."""
    if not job.loses_rollouts:
        return True
    try:
        await asyncio.to_thread(
            remove_tracked, trackers_dir, job.project_id, job.job_id, everything=job.deleted
        )
    except (OSError, sqlite3.Error) as error:
        log.warning("files of trackers not removed", job_id=job.job_id, error=repr(error))
        return False
    return True


async def _remove_objects(objects: Objects, job: EndedJob) -> None:
    job_key = f"projects/{job.project_id}/jobs/{job.job_id}"
    if job.deleted and not job.adapters:
        await objects.delete(job_key)
    else:
        await clear_job(objects, job_key, set(job.adapters))


async def _remove_rows(database: Database, job: EndedJob) -> int:
    if not job.loses_rollouts:
        return 0

    async def remove(unit: MaintenanceUnitOfWork) -> int:
        ended = unit.ended_jobs
        return await (ended.remove_children if job.deleted else ended.remove_rollouts)(job, _ROWS)

    return await _in_batches(database, _ROWS, remove)


async def _unloaded(inference: Inference, jobs: list[EndedJob]) -> bool:
    if not jobs:
        return True
    names = [adapter_prefix(job.project_id, job.job_id) for job in jobs]
    names += [name for job in jobs for name in job.removed_models]
    fault = await unload_all(inference, names)
    if fault is not None:
        log.warning("adapters of ended jobs left in the engine", error=repr(fault))
    return fault is None


_DATABASES: Final = "*/*.db"


def remove_tracked(trackers_dir: Path, project_id: str, job_id: str, *, everything: bool) -> None:
    """Removes all files of a job, or those with messages. Raises `OSError` or `sqlite3.Error`."""
    for kind, library in LIBRARIES.items():
        directory = trackers_dir / kind / project_id / job_id
        if everything:
            _remove_tree(directory)
            continue
        for pattern in library.messages:
            for path in directory.glob(pattern):
                _remove_tree(path)
        if kind == "trackio":
            for database in directory.glob(_DATABASES):
                _remove_traces(database)


def _remove_tree(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_traces(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'traces'")
        if tables.fetchone() is None:
            return
        connection.execute("DELETE FROM traces")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
