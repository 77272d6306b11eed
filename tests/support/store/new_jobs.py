"""Inserts jobs through the product's own verb, together with the files they read."""

from typing import Final

from app.database import Database, UnitOfWork
from app.files.files import FileRow
from app.jobs.jobs import Job
from app.kit.callers import Tenant
from app.kit.errors import NotFound

CREATED: Final = "Created"
"""The message of each job's first event."""


async def insert_job(
    database: Database, tenant: Tenant, job: Job, *, secrets: bytes | None = None
) -> None:
    async with database.tenant(tenant) as unit:
        await insert_job_in(unit, job, secrets=secrets)


async def insert_job_in(unit: UnitOfWork, job: Job, *, secrets: bytes | None = None) -> None:
    for file_id in (job.training_file, job.validation_file):
        if file_id is not None:
            await _insert_missing_file(unit, file_id)
    await unit.jobs.insert_checked(
        job, secrets=secrets, job_eval=None, event_message=CREATED, after_commit=_nothing
    )


async def _insert_missing_file(unit: UnitOfWork, file_id: str) -> None:
    try:
        await unit.files.get(file_id)
    except NotFound:
        row = FileRow(file_id, "", "f", "fine-tune", 1, "00", "k", "processed", None, 0, None)
        await unit.files.insert(row)


async def _nothing() -> None:
    return None
