"""Jobs as rows: what a tenant may do with them, and what the run that holds one may."""

from datetime import timedelta
from typing import Any

from sqlalchemy import func, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import NotFound, WrongState
from app.domain.jobs import TERMINAL, Job, JobError, JobStatus, StopRequest, may_become
from app.store.paging import cut, unknown_cursor
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Table
from app.store.storable import storable
from app.store.times import moment_or_none, unix, unix_or_none

_PAUSED = (JobStatus.PAUSING, JobStatus.PAUSED)
_DONE = {StopRequest.CANCEL: "cancelled", StopRequest.PAUSE: "paused"}


def to_job(row: Table) -> Job:
    error = None if row.error is None else JobError(**row.error)
    return Job(
        id=row.id,
        organization_id=row.organization_id,
        project_id=row.project_id,
        model=row.model,
        status=JobStatus(row.status),
        training_file=row.training_file,
        validation_file=row.validation_file,
        seed=row.seed,
        suffix=row.suffix,
        method=row.method,
        metadata=row.job_metadata,
        integrations=row.integrations,
        error=error,
        created_at=unix(row.created_at),
        started_at=unix_or_none(row.started_at),
        finished_at=unix_or_none(row.finished_at),
        estimated_finish=unix_or_none(row.estimated_finish),
        fine_tuned_model=row.fine_tuned_model,
        trained_tokens=row.trained_tokens,
        result_files=row.result_files,
        stop_request=None if row.stop_request is None else StopRequest(row.stop_request),
        step=row.step,
        total_steps=row.total_steps,
        fence=row.fence,
        attempts=row.attempts,
        key_id=row.key_id,
    )


class _ReadStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`, for another tenant's job exactly as for none."""
        return to_job(await self._row(job_id))

    async def _row(self, job_id: str, *, lock: bool = False) -> Table:
        query = select(Table).where(Table.id == job_id).execution_options(populate_existing=True)
        row = await self._session.scalar(query.with_for_update(key_share=True) if lock else query)
        if row is None:
            raise NotFound(f"Could not find fine tune: {job_id}", code="fine_tune_not_found")
        return row

    async def _move(self, job_id: str, following: JobStatus, **values: Any) -> None:
        """Compare and set along the transition table. Raises `WrongState`."""
        row = await self._row(job_id, lock=True)
        current = JobStatus(row.status)
        if not may_become(current, following):
            raise WrongState(
                f"Job {job_id} is {current.value} and cannot become {following.value}."
            )
        await self._session.execute(
            update(Table).where(Table.id == job_id).values(status=following.value, **values)
        )


class JobStore(_ReadStore):
    """What a tenant does with its jobs."""

    async def insert(self, job: Job, *, secrets: bytes | None) -> None:
        await self._session.execute(
            insert(Table).values(
                id=job.id,
                organization_id=job.organization_id,
                project_id=self._project_id,
                key_id=job.key_id,
                model=job.model,
                status=job.status.value,
                training_file=job.training_file,
                validation_file=job.validation_file,
                seed=job.seed,
                suffix=job.suffix,
                method=job.method,
                secrets=secrets,
                job_metadata=job.metadata,
                integrations=job.integrations,
                result_files=job.result_files,
            )
        )

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        metadata: dict[str, str] | None,
        without_metadata: bool = False,
    ) -> tuple[list[Job], bool]:
        """Newest first."""
        query = select(Table).order_by(Table.created_at.desc(), Table.id.desc()).limit(limit + 1)
        if after is not None:
            cursor = await self._session.scalar(select(Table).where(Table.id == after))
            if cursor is None:
                raise unknown_cursor(after)
            query = query.where(
                tuple_(Table.created_at, Table.id) < tuple_(cursor.created_at, cursor.id)
            )
        if metadata is not None:
            query = query.where(Table.job_metadata.contains(metadata))
        if without_metadata:
            query = query.where(
                Table.job_metadata.is_(None) | (Table.job_metadata == func.jsonb_build_object())
            )
        rows = (await self._session.scalars(query)).all()
        page, more = cut(rows, limit)
        return [to_job(row) for row in page], more

    async def open_with_file(self, file_id: str) -> str | None:
        """Id of a job that still has to read the file."""
        ended = [status.value for status in TERMINAL]
        return await self._session.scalar(
            select(Table.id)
            .where(
                Table.status.not_in(ended),
                (Table.training_file == file_id) | (Table.validation_file == file_id),
            )
            .limit(1)
        )

    async def request_stop(self, job_id: str, request: StopRequest) -> Job:
        """A cancel ends the job now, and the run finds its fence gone; a pause is asked of the run
        that holds the job, or takes effect at once when none does.
        """
        row = await self._row(job_id, lock=True)
        current = JobStatus(row.status)
        if current in TERMINAL or (request is StopRequest.PAUSE and current in _PAUSED):
            raise WrongState(f"Job {job_id} is {current.value}; it cannot be {_DONE[request]} now.")
        if request is StopRequest.CANCEL:
            await self._move(job_id, JobStatus.CANCELLED, finished_at=func.now(), lease_until=None)
        elif await self._is_held(job_id):
            await self._ask_run(job_id, current, request)
        else:
            # The last holder may be frozen, not dead: after a resume it must find its fence gone.
            await self._move(job_id, JobStatus.PAUSED, fence=Table.fence + 1)
        return await self.get(job_id)

    async def _is_held(self, job_id: str) -> bool:
        return bool(
            await self._session.scalar(
                select(Table.lease_until > func.now()).where(Table.id == job_id)
            )
        )

    async def _ask_run(self, job_id: str, current: JobStatus, request: StopRequest) -> None:
        values: dict[str, Any] = {"stop_request": request.value}
        if current is JobStatus.RUNNING:
            values["status"] = JobStatus.PAUSING.value
        await self._session.execute(update(Table).where(Table.id == job_id).values(**values))

    async def mark_queued(self, job_id: str) -> None:
        """A paused job goes on; its attempts count from zero again."""
        row = await self._row(job_id, lock=True)
        if JobStatus(row.status) is not JobStatus.PAUSED:
            raise WrongState(f"Job {job_id} is {row.status}; only a paused job can be resumed.")
        await self._move(
            job_id, JobStatus.QUEUED, stop_request=None, attempts=0, dispatched_at=None
        )


class RunJobStore(_ReadStore):
    """What a run does with the job it holds. Built only inside a fenced unit of work."""

    def __init__(self, session: AsyncSession, project_id: str, job_id: str) -> None:
        super().__init__(session, project_id)
        self._job_id = job_id

    async def secrets(self, job_id: str) -> bytes | None:
        return await self._session.scalar(select(Table.secrets).where(Table.id == job_id))

    async def stop_request(self) -> StopRequest | None:
        found = await self._session.scalar(
            select(Table.stop_request).where(Table.id == self._job_id)
        )
        return None if found is None else StopRequest(found)

    async def resume_point(self) -> tuple[int, str | None, str | None]:
        """Last committed step, and the object keys of its trainer state and adapter."""
        query = select(Table.step, Table.resume_key, Table.adapter_key)
        row = (await self._session.execute(query.where(Table.id == self._job_id))).one()
        return row.step, row.resume_key, row.adapter_key

    async def mark_validated(self, total_steps: int, method: dict[str, Any]) -> None:
        await self._set(total_steps=total_steps, method=method)
        row = await self._row(self._job_id)
        if JobStatus(row.status) is JobStatus.VALIDATING_FILES:
            await self._move(self._job_id, JobStatus.QUEUED)

    async def mark_running(self) -> None:
        """Also for a run that takes over: it is running already, or asked to pause."""
        row = await self._row(self._job_id)
        if JobStatus(row.status) is JobStatus.QUEUED:
            await self._move(
                self._job_id,
                JobStatus.RUNNING,
                started_at=func.coalesce(Table.started_at, func.now()),
            )

    async def commit_step(
        self,
        step: int,
        *,
        resume_key: str | None,
        adapter_key: str | None,
        trained_tokens: int,
        estimated_finish: int,
    ) -> None:
        """Move the resume point; `trained_tokens` is the step's own number and is added up.

        Progress was made, so the attempts count from zero again.
        """
        await self._set(
            step=step,
            resume_key=resume_key,
            adapter_key=adapter_key,
            trained_tokens=func.coalesce(Table.trained_tokens, 0) + trained_tokens,
            estimated_finish=moment_or_none(estimated_finish),
            attempts=0,
        )

    async def mark_succeeded(self, fine_tuned_model: str) -> None:
        await self._end(JobStatus.SUCCEEDED, fine_tuned_model=fine_tuned_model)

    async def mark_failed(self, error: JobError) -> None:
        shown = {"code": error.code, "message": error.message, "param": error.param}
        await self._end(JobStatus.FAILED, error=storable(shown))

    async def mark_paused(self) -> None:
        await self._move(
            self._job_id,
            JobStatus.PAUSED,
            stop_request=None,
            lease_until=func.now() - timedelta(seconds=1),
        )

    async def _end(self, status: JobStatus, **values: Any) -> None:
        await self._move(
            self._job_id,
            status,
            finished_at=func.now(),
            estimated_finish=None,
            lease_until=func.now() - timedelta(seconds=1),
            **values,
        )

    async def _set(self, **values: Any) -> None:
        await self._session.execute(update(Table).where(Table.id == self._job_id).values(**values))
