"""Removes leftovers of ended jobs: the journal, the trainer's stored state, adapters that nothing
refers to any more, and all rows of deleted jobs.

A run that fails or succeeds removes its own state. A job that was cancelled, or whose workers
crashed, no longer has a worker that may write for it; this module removes its leftovers once every
claim of it must have ended. It also removes the objects and rows of deleted jobs, models and
checkpoints. Objects are removed before the rows that refer to them, and rows in batches.
"""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import structlog

from app.database import Database
from app.jobs.ended_jobs import EndedJob
from app.jobs.integrations import LIBRARIES
from app.kit.objects import Objects
from app.maintenance import maintenance
from app.models.engine import AdapterCache, Inference
from workers.runs.publisher import adapter_prefix, clear_job, unload_all

log = structlog.get_logger()

SETTLED_S: Final = 600.0
"""Seconds between the end of a job and its cleaning; a run that lost its lease ends within two
heartbeats.
"""
_POSTPONED_S: Final = 3600.0
"""Seconds after which files that could not be removed are tried again."""
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
    """Removes what trackers may not keep of a job. Returns whether that worked: a file that cannot
    be removed ends no round.
    """
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
    """Removes the rows of a deleted job, or only the rollouts of a job past its retention, in
    batches. Returns their number.
    """
    removed, batch = 0, _ROWS if job.loses_rollouts else 0
    while batch == _ROWS:
        async with maintenance(database) as unit:
            if job.deleted:
                batch = await unit.ended_jobs.remove_children(job, _ROWS)
            else:
                batch = await unit.ended_jobs.remove_rollouts(job, _ROWS)
        removed += batch
    return removed


async def _unloaded(inference: Inference, jobs: list[EndedJob]) -> bool:
    """Unloads the adapters of claims that crashed with them loaded, and of models that can no
    longer be called. Returns whether that worked.
    """
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
            _remove(directory)
            continue
        for pattern in library.messages:
            for path in directory.glob(pattern):
                _remove(path)
        if kind == "trackio":
            for database in directory.glob(_DATABASES):
                _remove_traces(database)


def _remove(path: Path) -> None:
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
