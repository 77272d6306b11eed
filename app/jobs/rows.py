"""Converts jobs between the domain's classes and the columns of their rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

from sqlalchemy import Table as CoreTable
from sqlalchemy import delete, inspect, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.events.store import log_end
from app.jobs.jobs import (
    Caps,
    Job,
    JobError,
    JobStatus,
    StopRequest,
    Usage,
    may_become,
    read_attached,
)
from app.jobs.methods import stored_method
from app.jobs.tables import FineTuningJobTable
from app.jobs.tables import FineTuningJobTable as Table
from app.jobs.tables import JournalTable as TableJournal
from app.kit.errors import NotFound, WrongState
from app.kit.leases import ended_lease
from app.kit.sql import from_row
from app.webhooks.events import job_event

JOBS: Final = cast("CoreTable", FineTuningJobTable.__table__)
MCP_SERVERS: Final = "mcp_servers"
COLUMNS: Final = [
    JOBS.c[attribute.columns[0].name].label(attribute.key)
    for attribute in inspect(FineTuningJobTable).column_attrs
    if attribute.key != "secrets"
]
"""The columns that `whole_job` reads. Selecting columns takes half the time of a mapped object."""


def whole_job(row: Any) -> Job:
    """Builds a job with the listings of its MCP servers, from a row of `COLUMNS`."""
    job, listings = to_job(row), row.mcp_listings
    if not listings:
        return job
    servers = [
        {**server, "listing": listings[str(index)]} if str(index) in listings else server
        for index, server in enumerate(job.method.options[MCP_SERVERS])
    ]
    options = {**job.method.options, MCP_SERVERS: servers}
    return replace(job, method=job.method.with_options(options))


def to_job(row: Any) -> Job:
    """Builds a job from any row with the table's attributes, with summaries of the listings."""
    error = None if row.error is None else JobError(**row.error)
    return from_row(
        Job,
        row,
        status=JobStatus(row.status),
        method=stored_method(row.method),
        metadata=row.job_metadata,
        evals=read_attached(row.evals),
        error=error,
        stop_request=None if row.stop_request is None else StopRequest(row.stop_request),
        caps=Caps(row.max_training_time_s, row.max_rollouts),
        usage=None if row.usage is None else Usage.from_json(row.usage),
    )


def job_row(job: Job, secrets: bytes | None) -> dict[str, Any]:
    """Returns the values of a new job by column."""
    return {
        "id": job.id,
        "organization_id": job.organization_id,
        "project_id": job.project_id,
        "key_id": job.key_id,
        "model": job.model,
        "status": job.status.value,
        "training_file": job.training_file,
        "validation_file": job.validation_file,
        "seed": job.seed,
        "suffix": job.suffix,
        "method": job.method.document,
        "secrets": secrets,
        "metadata": job.metadata,
        "integrations": job.integrations,
        "evals": [each.to_json() for each in job.evals],
        "result_files": job.result_files,
        "max_training_time_s": job.caps.max_training_time_s,
        "max_rollouts": job.caps.max_rollouts,
        "priority": job.priority,
    }


def no_such_job(job_id: str) -> NotFound:
    return NotFound(f"Could not find fine tune: {job_id}", code="fine_tune_not_found")


async def lock_job(session: AsyncSession, job_id: str) -> Table:
    """Returns the row, locked until the transaction ends. Raises `NotFound`, also for a job that
    was deleted.
    """
    row = await session.scalar(
        select(Table)
        .where(Table.id == job_id, Table.deleted_at.is_(None))
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise no_such_job(job_id)
    return row


async def move_job(
    session: AsyncSession, project_id: str, job_id: str, following: JobStatus, **values: Any
) -> None:
    """Compares and sets the state along the transition table. Raises `WrongState`."""
    row = await lock_job(session, job_id)
    current = JobStatus(row.status)
    if not may_become(current, following):
        raise WrongState(f"Job {job_id} is {current.value} and cannot become {following.value}.")
    await session.execute(
        update(Table).where(Table.id == job_id).values(status=following.value, **values)
    )
    event_type = job_event(following)
    if event_type is not None:
        await log_end(session, project_id, event_type=event_type, subject=job_id)


async def pause_job(session: AsyncSession, project_id: str, job_id: str) -> None:
    """Pauses the job and ends its lease. Raises `WrongState`."""
    await move_job(
        session,
        project_id,
        job_id,
        JobStatus.PAUSED,
        stop_request=None,
        estimated_finish=None,
        **ended_lease(),
    )


Entry = tuple[str, str, dict[str, Any]]
"""Key, sha256 of the request, payload."""


class JournalStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def get_many(self, job_id: str, step: int) -> dict[str, tuple[str, dict[str, Any]]]:
        """Returns the entries of one step by key."""
        rows = await self._session.scalars(
            select(TableJournal).where(TableJournal.job_id == job_id, TableJournal.step == step)
        )
        return {row.key: (row.request_sha256, row.payload) for row in rows}

    async def put_many(self, job_id: str, step: int, entries: Sequence[Entry]) -> None:
        """Writes entries; overwrites an existing key, and the last of two equal keys counts."""
        if not entries:
            return
        values = [
            {
                "project_id": self._project_id,
                "job_id": job_id,
                "step": step,
                "key": key,
                "request_sha256": sha256,
                "payload": payload,
            }
            for key, sha256, payload in entries
        ]
        query = insert(TableJournal)
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[TableJournal.job_id, TableJournal.key],
                set_={
                    "request_sha256": query.excluded.request_sha256,
                    "payload": query.excluded.payload,
                    "step": query.excluded.step,
                },
            ),
            values,
        )

    async def forget(self, job_id: str, upto_step: int) -> None:
        await self._session.execute(
            delete(TableJournal).where(
                TableJournal.job_id == job_id, TableJournal.step <= upto_step
            )
        )

    async def forget_all(self, job_id: str) -> None:
        """Deletes the journal of a job that ends."""
        await self._session.execute(delete(TableJournal).where(TableJournal.job_id == job_id))
