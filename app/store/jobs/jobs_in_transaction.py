"""Verbs of a tenant's job row that need a transaction, in addition to those of `JobStore`.

Promises: a tenant sees its own jobs only, because row-level security reads the setting of the unit.
"""

from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.quotas import Quotas
from app.domain.errors import WrongState
from app.domain.jobs.jobs import ENDED, TERMINAL, Job, JobError, JobStatus, StopRequest
from app.domain.jobs.usage import NO_CAPS, Caps, Usage
from app.domain.methods.method_documents import StoredMethod
from app.store.jobs.deletion import delete_job
from app.store.jobs.jobs import JobStore
from app.store.jobs.rows import to_job
from app.store.jobs.transitions import lock_job, move_job
from app.store.paging import Keyset
from app.store.schema.jobs import FineTuningJobTable as Table
from app.store.storable import storable
from app.store.transactions.statements import Statements

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
