"""Verbs of a tenant's job row that are one statement each, and run alone or inside a transaction.

Verbs that need a transaction are in `jobs_in_transaction`, a run's own in `run_jobs`, leases in
`claims`.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, Text, bindparam, case, func, select, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.usage import Quotas
from app.evals.evals import Eval
from app.jobs.creation_store import delete_job, new_rows, parameters, statement_of, stored_job
from app.jobs.jobs import (
    ENDED,
    NO_CAPS,
    TERMINAL,
    Caps,
    Job,
    JobError,
    JobStatus,
    QueuePosition,
    StopRequest,
    Usage,
)
from app.jobs.methods import StoredMethod
from app.jobs.rows import COLUMNS, JOBS, lock_job, move_job, no_such_job, to_job, whole_job
from app.jobs.tables import FineTuningJobTable as Table
from app.kit.errors import WrongState
from app.kit.sql import (
    Callback,
    Keyset,
    PreparedStatement,
    Scope,
    Statements,
    storable,
    unix_or_none,
)


def _get(scope: Scope) -> Select[*tuple[Any, ...]]:
    job_id = bindparam("job_id", type_=Text())
    return scope.within(
        select(*COLUMNS).where(
            JOBS.c.project_id == scope.value, JOBS.c.id == job_id, JOBS.c.deleted_at.is_(None)
        )
    )


def _queue_positions(scope: Scope) -> Select[*tuple[Any, ...]]:
    job_ids = bindparam("job_ids", type_=ARRAY(Text))
    # The SQL function reads the setting, so its argument must depend on the setting.
    after_setting = case((scope.value.is_not(None), job_ids))
    rows = func.queue_places(after_setting).table_valued("job_id", "place", "starts_at")
    return scope.within(select(rows))


_GET = PreparedStatement(_get)
_QUEUE_POSITIONS = PreparedStatement(_queue_positions)


class JobReader:
    """Reads a job; shared by a tenant's store and a run's store."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`, with the same text for another tenant's job as for a missing one."""
        rows = await self._statements.rows(_GET, {"job_id": job_id})
        if not rows:
            raise no_such_job(job_id)
        return whole_job(rows[0])


class JobStore(JobReader):
    """A tenant's jobs: the verbs that are one statement each."""

    def __init__(self, statements: Statements, quotas: Quotas) -> None:
        super().__init__(statements)
        self._quotas = quotas

    async def insert_checked(
        self,
        job: Job,
        *,
        secrets: bytes | None,
        job_eval: Eval | None,
        event_message: str,
        notices: Sequence[str] = (),
        warnings: Sequence[str] = (),
        after_commit: Callback,
    ) -> Job:
        """Writes the job with its eval and first events; returns it as it is stored.

        Checks its files and locks its project in the same statement. Nothing is written and
        `after_commit` is not called when it raises: `AuthenticationFailed` for a project that is
        archived or hidden, `InvalidRequest` for a file that is missing or has another purpose,
        `QuotaExceeded` if too many jobs of the project already wait.
        """
        rows = new_rows(
            job,
            secrets=secrets,
            job_eval=job_eval,
            event_message=event_message,
            notices=notices,
            warnings=warnings,
        )
        values = parameters(rows, job, queued_jobs=self._quotas.queued_jobs)
        returned = await self._statements.rows(statement_of(rows), values)
        stored = stored_job(returned[0] if returned else None, job)
        await self._statements.after_commit(after_commit)
        return stored

    async def queue_positions(self, job_ids: list[str]) -> dict[str, QueuePosition]:
        """Returns positions of own jobs that wait for a worker, in the queue of all tenants."""
        rows = await self._statements.rows(_QUEUE_POSITIONS, {"job_ids": job_ids})
        return {row.job_id: QueuePosition(row.place, unix_or_none(row.starts_at)) for row in rows}


_NEWEST_LOOKED_AT = 200
_RECENT = 5
_PAUSED = (JobStatus.PAUSING, JobStatus.PAUSED)
_DONE = {StopRequest.CANCEL: "cancelled", StopRequest.PAUSE: "paused"}
_NEWEST_FIRST = Keyset((Table.created_at, Table.id), descending=True)


class JobsInTransaction(JobStore):
    """A tenant's jobs inside a unit of work: also pages, searches and changes of state."""

    def __init__(
        self, statements: Statements, session: AsyncSession, project_id: str, *, quotas: Quotas
    ) -> None:
        super().__init__(statements, quotas)
        self._session = session
        self._project_id = project_id

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        metadata: dict[str, str] | None,
        without_metadata: bool = False,
        status: JobStatus | None = None,
    ) -> tuple[list[Job], bool]:
        """Returns a page, newest first, with summaries of what MCP servers listed."""
        query = select(Table).where(Table.deleted_at.is_(None))
        if status is not None:
            query = query.where(Table.status == status.value)
        if metadata is not None:
            query = query.where(Table.job_metadata.contains(metadata))
        if without_metadata:
            query = query.where(
                Table.job_metadata.is_(None) | (Table.job_metadata == func.jsonb_build_object())
            )
        page, more = await _NEWEST_FIRST.page(
            self._session, query, after=after, cursor=[Table.id == after], limit=limit
        )
        return [to_job(row) for row in page], more

    async def open_with_file(self, file_id: str) -> str | None:
        """Returns the id of an unfinished job that reads the file."""
        return await self._session.scalar(
            select(Table.id)
            .where(
                Table.status.not_in(ENDED),
                (Table.training_file == file_id) | (Table.validation_file == file_id),
            )
            .limit(1)
        )

    async def with_file(self, file_id: str) -> list[str]:
        """Returns the ids of all jobs that read the file, or have read it."""
        query = select(Table.id).where(
            Table.deleted_at.is_(None),
            (Table.training_file == file_id) | (Table.validation_file == file_id),
        )
        return list(await self._session.scalars(query.order_by(Table.id)))

    async def open_ids(self) -> list[str]:
        """Returns the ids of all jobs that have not ended."""
        query = select(Table.id).where(
            Table.project_id == self._project_id, Table.status.not_in(ENDED)
        )
        return list(await self._session.scalars(query))

    async def request_stop(self, job_id: str, request: StopRequest) -> Job:
        """Cancels or pauses a job.

        A cancel ends the job at once, and the writes of its run raise `LeaseLost`. A pause is a
        request to the run, or takes effect at once when no run has the lease. Raises `WrongState`.
        """
        row = await lock_job(self._session, job_id)
        current = JobStatus(row.status)
        if current in TERMINAL or (request is StopRequest.PAUSE and current in _PAUSED):
            raise WrongState(f"Job {job_id} is {current.value}; it cannot be {_DONE[request]} now.")
        if request is StopRequest.CANCEL:
            await self._move(
                job_id,
                JobStatus.CANCELLED,
                finished_at=func.now(),
                lease_until=None,
                estimated_finish=None,
            )
        elif await self._is_leased(job_id):
            await self._request_of_run(job_id, current, request)
        else:
            # The last run may be suspended, not dead: after a resume its fence must be out of date.
            await self._move(job_id, JobStatus.PAUSED, fence=Table.fence + 1, estimated_finish=None)
        return await self.get(job_id)

    async def _is_leased(self, job_id: str) -> bool:
        return bool(
            await self._session.scalar(
                select(Table.lease_until > func.now()).where(Table.id == job_id)
            )
        )

    async def _request_of_run(self, job_id: str, current: JobStatus, request: StopRequest) -> None:
        values: dict[str, Any] = {"stop_request": request.value}
        if current is JobStatus.RUNNING:
            values["status"] = JobStatus.PAUSING.value
        await self._session.execute(update(Table).where(Table.id == job_id).values(**values))

    async def lock_unvalidated(self, job_id: str) -> Job | None:
        """Locks a job whose files are not validated and that no worker has claimed; `None` for any
        other.
        """
        row = await lock_job(self._session, job_id)
        if JobStatus(row.status) is not JobStatus.VALIDATING_FILES or await self._is_leased(job_id):
            return None
        return to_job(row)

    async def mark_validated(self, job_id: str, total_steps: int, method: StoredMethod) -> None:
        values = {"total_steps": total_steps, "method": method.document}
        await self._move(job_id, JobStatus.QUEUED, **values)

    async def mark_invalid(self, job_id: str, error: JobError) -> None:
        """Ends a job whose files cannot be used."""
        document = {"code": error.code, "message": error.message, "param": error.param}
        await self._move(job_id, JobStatus.FAILED, error=storable(document), finished_at=func.now())

    async def mark_queued(self, job_id: str, caps: Caps = NO_CAPS) -> None:
        """Queues a paused job again. `caps` replace the job's own; the count of attempts is reset.

        Raises `WrongState`, also while a cap would pause the job before its next step.
        """
        row = await lock_job(self._session, job_id)
        if JobStatus(row.status) is not JobStatus.PAUSED:
            raise WrongState(f"Job {job_id} is {row.status}; only a paused job can be resumed.")
        job = to_job(row)
        caps = job.caps.raised(caps)
        reached = caps.reached(job.usage)
        if reached is not None:
            raise WrongState(
                f"Job {job_id} stays paused: {reached.reason}. "
                f"Send a higher {reached.name} to go on.",
                param=reached.name,
            )
        await self._move(
            job_id,
            JobStatus.QUEUED,
            stop_request=None,
            attempts=0,
            dispatched_at=None,
            queued_at=func.now(),
            not_before=None,
            put_backs=0,
            max_training_time_s=caps.max_training_time_s,
            max_rollouts=caps.max_rollouts,
        )

    async def recent_usage(self, model: str) -> list[Usage]:
        """Returns the usage of finished jobs on a base model, among the newest jobs only."""
        newest = (
            select(Table.model, Table.status, Table.usage)
            .order_by(Table.created_at.desc(), Table.id.desc())
            .limit(_NEWEST_LOOKED_AT)
            .subquery()
        )
        usages = await self._session.scalars(
            select(newest.c.usage)
            .where(
                newest.c.model == model,
                newest.c.status == JobStatus.SUCCEEDED.value,
                newest.c.usage.is_not(None),
            )
            .limit(_RECENT)
        )
        return [Usage.from_json(usage) for usage in usages]

    async def delete(self, job_id: str) -> None:
        """Raises `NotFound`, and `WrongState` unless the job has ended and nothing uses it."""
        await delete_job(self._session, job_id)

    async def set_result_files(self, job_id: str, file_ids: list[str]) -> None:
        """Sets the result files of a job that the API ends; a run sets its own."""
        await self._session.execute(
            update(Table).where(Table.id == job_id).values(result_files=file_ids)
        )

    async def _move(self, job_id: str, following: JobStatus, **values: Any) -> None:
        await move_job(self._session, self._project_id, job_id, following, **values)
