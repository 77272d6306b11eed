"""Jobs as rows: what a tenant may do with them; the run that holds one is in `run_jobs`."""

from typing import Any

from sqlalchemy import Text, bindparam, func, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import NotFound, WrongState
from app.domain.events.webhooks import JOB_EVENTS
from app.domain.jobs.jobs import TERMINAL, Job, JobStatus, QueuePosition, StopRequest, may_become
from app.domain.jobs.usage import NO_CAPS, Caps, Usage
from app.store.jobs.new_jobs import SHOWN, NewRows, insert_job
from app.store.jobs.rows import job_row, places_by_job, to_job
from app.store.paging import cut, unknown_cursor
from app.store.schema.fine_tuning_jobs import FineTuningJobTable as Table
from app.store.webhooks.webhook_events import emit

_NEWEST_LOOKED_AT = 200
_RECENT = 5
_PAUSED = (JobStatus.PAUSING, JobStatus.PAUSED)
_QUEUE_PLACES = text("SELECT job_id, place, starts_at FROM queue_places(:wanted)").bindparams(
    bindparam("wanted", type_=ARRAY(Text))
)
_DONE = {StopRequest.CANCEL: "cancelled", StopRequest.PAUSE: "paused"}
_COLUMNS = select(*SHOWN).where(Table.id == bindparam("wanted"))


def no_such_job(job_id: str) -> NotFound:
    return NotFound(f"Could not find fine tune: {job_id}", code="fine_tune_not_found")


class JobReads:
    """What a tenant's and a run's store have in common."""

    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`, for another tenant's job exactly as for none."""
        row = (await self._session.execute(_COLUMNS, {"wanted": job_id})).one_or_none()
        if row is None:
            raise no_such_job(job_id)
        return to_job(row)

    async def _row(self, job_id: str, *, lock: bool = False) -> Table:
        query = select(Table).where(Table.id == job_id).execution_options(populate_existing=True)
        row = await self._session.scalar(query.with_for_update(key_share=True) if lock else query)
        if row is None:
            raise no_such_job(job_id)
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
        if following in JOB_EVENTS:
            await emit(self._session, self._project_id, JOB_EVENTS[following], job_id)


class JobStore(JobReads):
    """What a tenant does with its jobs."""

    async def admit(self, rows: NewRows) -> tuple[Job | None, dict[str, str]]:
        """The job as stored, and the purposes of its files by id; nothing is written and there is
        no job when one of them is not there, or not for fine-tuning.
        """
        made = await insert_job(self._session, rows)
        return None if made.row is None else to_job(made.row), made.purposes

    async def insert(self, job: Job, *, secrets: bytes | None) -> Job:
        """The row alone, as it is stored."""
        made = await insert_job(self._session, NewRows(job_row(job, secrets)))
        return to_job(made.row)

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

    async def open_ids(self) -> list[str]:
        """Of every job that has not ended."""
        ended = [status.value for status in TERMINAL]
        query = select(Table.id).where(
            Table.project_id == self._project_id, Table.status.not_in(ended)
        )
        return list(await self._session.scalars(query))

    async def request_stop(self, job_id: str, request: StopRequest) -> Job:
        """A cancel ends the job now, and the run finds its fence gone; a pause is asked of the run
        that holds the job, or takes effect at once when none does.
        """
        row = await self._row(job_id, lock=True)
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
        elif await self._is_held(job_id):
            await self._ask_run(job_id, current, request)
        else:
            # The last holder may be frozen, not dead: after a resume it must find its fence gone.
            await self._move(job_id, JobStatus.PAUSED, fence=Table.fence + 1, estimated_finish=None)
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

    async def mark_queued(self, job_id: str, caps: Caps = NO_CAPS) -> None:
        """A paused job goes on, with the caps that are given; its attempts count from zero again.

        Raises `WrongState`, also while a cap would pause it before its next step.
        """
        row = await self._row(job_id, lock=True)
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
            max_training_time_s=caps.max_training_time_s,
            max_rollouts=caps.max_rollouts,
        )

    async def recent_usage(self, model: str) -> list[Usage]:
        """What the last few finished jobs on a base model used, among the project's newest jobs."""
        newest = (
            select(Table.model, Table.status, Table.usage)
            .order_by(Table.created_at.desc(), Table.id.desc())
            .limit(_NEWEST_LOOKED_AT)
            .subquery()
        )
        found = await self._session.scalars(
            select(newest.c.usage)
            .where(
                newest.c.model == model,
                newest.c.status == JobStatus.SUCCEEDED.value,
                newest.c.usage.is_not(None),
            )
            .limit(_RECENT)
        )
        return [Usage.from_json(usage) for usage in found]

    async def set_result_files(self, job_id: str, file_ids: list[str]) -> None:
        """Of a job that ends here; a run's end writes its own."""
        await self._session.execute(
            update(Table).where(Table.id == job_id).values(result_files=file_ids)
        )

    async def queue_places(self, job_ids: list[str]) -> dict[str, QueuePosition]:
        """Of those that wait for a worker, counted over all tenants; own jobs only."""
        found = await self._session.execute(_QUEUE_PLACES, {"wanted": job_ids})
        return places_by_job(found)
