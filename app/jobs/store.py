"""Jobs as rows: the insert as one statement, reads, pages, changes of state, deletion.

The insert also checks the job's files and locks its project, and writes nothing unless all files
are usable and the project is active.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, Final, cast

from sqlalchemy import (
    CTE,
    BigInteger,
    Select,
    Text,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    true,
    update,
)
from sqlalchemy import Table as CoreTable
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.accounts import NO_PROJECT, PROJECT_ARCHIVED
from app.accounts.tables import ProjectTable
from app.accounts.usage import Quotas, check_quota
from app.evals.evals import Eval
from app.evals.store import eval_row
from app.evals.tables import EvalTable
from app.evals.tables import EvalTable as EvalDeletion
from app.events.store import EventLogTable, job_event_row
from app.files.files import NOT_READY, TRAINING, not_ready, wrong_purpose
from app.files.store import UNEXPIRED
from app.files.tables import FileTable
from app.files.tables import FileTable as File
from app.jobs.jobs import (
    ENDED,
    NO_CAPS,
    TERMINAL,
    Caps,
    EventLevel,
    Job,
    JobError,
    JobStatus,
    QueuePosition,
    StopRequest,
    Usage,
)
from app.jobs.methods import StoredMethod
from app.jobs.rows import (
    COLUMNS,
    JOBS,
    event_row,
    job_row,
    lock_job,
    move_job,
    no_such_job,
    to_job,
    whole_job,
)
from app.jobs.tables import CheckpointTable as Checkpoint
from app.jobs.tables import FineTuningJobTable as Table
from app.jobs.tables import JobEventTable
from app.kit.errors import AuthenticationFailed, InvalidRequest, WrongState
from app.kit.sql import (
    Callback,
    Keyset,
    PreparedStatement,
    Scope,
    Statements,
    storable,
    unix_or_none,
)
from app.models.export_store import checkpoint_dropped, is_checkpoint_model
from app.models.models import used_by
from app.models.store import checkpoint_in_use, users_of_model
from app.models.tables import TunedModelTable as Model

_NOT_BEGUN: Final = (JobStatus.VALIDATING_FILES.value, JobStatus.QUEUED.value)
Rows = dict[str, dict[str, Any]]
_TABLES = {
    "job": JOBS,
    "eval": cast("CoreTable", EvalTable.__table__),
    "event": cast("CoreTable", JobEventTable.__table__),
    "log": cast("CoreTable", EventLogTable.__table__),
}
_MAX_EVENTS: Final = 8
"""Largest number of events; each number has a separate statement, which is built once."""


def _new_rows(
    job: Job, secrets: bytes | None, job_eval: Eval | None, events: Sequence[tuple[EventLevel, str]]
) -> Rows:
    rows: Rows = {"job": job_row(job, secrets)}
    if job_eval is not None:
        rows["eval"] = eval_row(job.project_id, job_eval)
    for number, (level, message) in enumerate(events[: _MAX_EVENTS + 1]):
        event = event_row(job.project_id, job.id, message, level=level)
        name = str(number or "")
        rows |= {f"event{name}": event, f"log{name}": job_event_row(event)}
    return rows


def _refuse_unusable_files(files: dict[str, str | None], purposes: dict[str, str]) -> None:
    for param, file_id in files.items():
        if file_id is not None and file_id not in purposes:
            raise InvalidRequest(
                f"{param} {file_id} does not exist.", param=param, code="file_not_found"
            )
        if file_id is not None and purposes[file_id] == NOT_READY:
            raise not_ready(file_id, param)
        if file_id is not None and purposes[file_id] != TRAINING:
            raise wrong_purpose(file_id, purposes[file_id], param)


@cache
def _statement(rows: tuple[tuple[str, ...], ...]) -> PreparedStatement:
    return PreparedStatement(lambda scope: _build(rows, scope), acts=True)


def _build(rows: tuple[tuple[str, ...], ...], scope: Scope) -> Select[*tuple[Any, ...]]:
    project, files, queue = _locked_project(scope), _files_found(scope), _queued_jobs(scope)
    files_count = bindparam("files_count", type_=BigInteger())
    in_order = and_(
        project.c.project_archived_at.is_(None),
        files.c.usable == files_count,
        queue.c.queued < project.c.most_queued,
    )
    gate = project.join(files, true()).join(queue, true())
    [(name, *columns), *others] = rows
    source = _values(name, columns).select_from(gate).where(in_order)
    job = insert(JOBS).from_select(columns, source).returning(*COLUMNS).cte("new_job")
    written: dict[str, CTE] = {}
    last_event = job
    for child, *child_columns in others:
        # Selecting from the parent writes a child only if the job itself was written, an event
        # behind the one before it, and an entry of the log behind its event.
        event, table = child.startswith("event"), _table(child)
        parent = last_event if event or child.startswith("log") else job
        values = _values(child, child_columns).select_from(parent)
        new = insert(table).from_select(child_columns, values)
        # This role may write the log, but not read it.
        written[child] = (new.returning(table.c.id) if event else new).cte(f"new_{child}")
        last_event = written[child] if event else last_event
    result = select(
        job, project.c.project_archived_at, project.c.most_queued, queue.c.queued, files.c.purposes
    )
    return result.select_from(gate.outerjoin(job, true())).add_cte(*written.values())


def _table(name: str) -> CoreTable:
    return _TABLES[name.rstrip("0123456789")]


def _values(name: str, columns: list[str]) -> Select[Any]:
    table = _table(name)
    return select(
        *(bindparam(f"{name}_{column}", type_=table.c[column].type) for column in columns)
    )


def _locked_project(scope: Scope) -> CTE:
    """Locks the job's project. Archiving it waits for this lock, and then ends the new job."""
    project = (
        select(
            ProjectTable.archived_at.label("project_archived_at"),
            func.coalesce(
                ProjectTable.max_queued_jobs, bindparam("queued_jobs", type_=BigInteger())
            ).label("most_queued"),
        )
        .where(
            ProjectTable.id == scope.value,
            ProjectTable.id == bindparam("job_project_id", type_=Text()),
        )
        .with_for_update(read=True, key_share=True)
    )
    return scope.within(project).cte("project")


def _queued_jobs(scope: Scope) -> CTE:
    queued = select(func.count().label("queued")).where(
        JOBS.c.project_id == scope.value, or_(*(JOBS.c.status == status for status in _NOT_BEGUN))
    )
    return scope.within(queued).cte("queued_jobs")


def _files_found(scope: Scope) -> CTE:
    """Selects the purposes of the job's files by id, and the number of usable files. Locks the
    files: who deletes one waits for the job and then sees it, or this statement waits and then
    finds none.
    """
    purpose = case((FileTable.status == NOT_READY, NOT_READY), else_=FileTable.purpose)
    locked = (
        select(FileTable.id, purpose.label("purpose"))
        .where(
            FileTable.project_id == scope.value,
            FileTable.id == func.any(bindparam("files", type_=ARRAY(Text))),
            FileTable.deleted_at.is_(None),
            UNEXPIRED,
        )
        .with_for_update(read=True)
    )
    file = scope.within(locked).cte("locked_files")
    usable = func.count().filter(file.c.purpose == TRAINING).label("usable")
    purposes = func.coalesce(
        func.jsonb_object_agg(file.c.id, file.c.purpose), literal_column("'{}'::jsonb")
    ).label("purposes")
    return select(usable, purposes).cte("files_found")


async def delete_job(session: AsyncSession, job_id: str) -> None:
    """Hides an ended job with its eval, its result files and the models of its checkpoints.

    Raises `NotFound`, and `WrongState` while the job has not ended or a checkpoint of it is in use.
    """
    row = await lock_job(session, job_id)
    status = JobStatus(row.status)
    if status not in TERMINAL:
        raise WrongState(
            f"Job {job_id} is {status.value}; only a job that has ended can be deleted. "
            "Cancel it first."
        )
    await _refuse_use(session, row)
    await session.execute(
        update(Model)
        .where(Model.job_id == job_id, is_checkpoint_model(), Model.deleted_at.is_(None))
        .values(deleted_at=func.now())
    )
    await session.execute(delete(EvalDeletion).where(EvalDeletion.job_id == job_id))
    await session.execute(
        update(File)
        .where(File.id.in_(row.result_files), File.deleted_at.is_(None))
        .values(expires_at=func.now())
    )
    await session.execute(
        update(Table)
        .where(Table.id == job_id)
        .values(
            deleted_at=func.now(),
            clean_after=func.now(),
            # Customers' values go at once; the row may stay for a published model.
            secrets=None,
            method={},
            mcp_listings=None,
            job_metadata=None,
            integrations=[],
            evals=[],
        )
    )


async def _refuse_use(session: AsyncSession, job: Table) -> None:
    used = await session.scalar(
        select(Checkpoint.model_name)
        .where(Checkpoint.job_id == job.id, ~checkpoint_dropped(), checkpoint_in_use())
        .limit(1)
    )
    if used is None:
        return
    users = await users_of_model(session, job.project_id, used)
    reason = (
        used_by(users)
        if users
        else (
            "is shared with another project. Revoke the permission: DELETE "
            f"/v1/fine_tuning/checkpoints/{used}/permissions/{{permission_id}}."
        )
    )
    raise WrongState(f"Job {job.id} cannot be deleted: its checkpoint {used} {reason}")


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
    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def get(self, job_id: str) -> Job:
        """Raises `NotFound`, with the same text for another tenant's job as for a missing one."""
        rows = await self._statements.rows(_GET, {"job_id": job_id})
        if not rows:
            raise no_such_job(job_id)
        return whole_job(rows[0])


class JobStore(JobReader):
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
        events: list[tuple[EventLevel, str]] = [("info", event_message)]
        events += [("info", notice) for notice in notices]
        events += [("warn", warning) for warning in warnings]
        rows = _new_rows(job, secrets, job_eval, events)
        files = {"training_file": job.training_file, "validation_file": job.validation_file}
        used = sorted({file_id for file_id in files.values() if file_id is not None})
        values: dict[str, Any] = {
            f"{name}_{column}": value for name, row in rows.items() for column, value in row.items()
        }
        values |= {"files": used, "files_count": len(used), "queued_jobs": self._quotas.queued_jobs}
        statement = _statement(tuple((name, *row) for name, row in rows.items()))
        returned = await self._statements.rows(statement, values)
        # Row-level security hides the project of a caller who lost it.
        if not returned or returned[0].project_archived_at is not None:
            raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)
        row = returned[0]
        if row.id is None:
            _refuse_unusable_files(files, row.purposes)
            check_quota("queued_jobs", used=row.queued, adding=1, limit=row.most_queued)
            raise RuntimeError("a job was not written although nothing forbids it")
        await self._statements.after_commit(after_commit)
        return to_job(row)

    async def queue_positions(self, job_ids: list[str]) -> dict[str, QueuePosition]:
        rows = await self._statements.rows(_QUEUE_POSITIONS, {"job_ids": job_ids})
        return {row.job_id: QueuePosition(row.place, unix_or_none(row.starts_at)) for row in rows}


_NEWEST_LOOKED_AT = 200
_RECENT = 5
_PAUSED = (JobStatus.PAUSING, JobStatus.PAUSED)
_DONE = {StopRequest.CANCEL: "cancelled", StopRequest.PAUSE: "paused"}
_NEWEST_FIRST = Keyset((Table.created_at, Table.id), descending=True)


class JobsInTransaction(JobStore):
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
        return await self._session.scalar(
            select(Table.id)
            .where(
                Table.status.not_in(ENDED),
                (Table.training_file == file_id) | (Table.validation_file == file_id),
            )
            .limit(1)
        )

    async def with_file(self, file_id: str) -> list[str]:
        query = select(Table.id).where(
            Table.deleted_at.is_(None),
            (Table.training_file == file_id) | (Table.validation_file == file_id),
        )
        return list(await self._session.scalars(query.order_by(Table.id)))

    async def open_ids(self) -> list[str]:
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
            following = JobStatus.PAUSING if current is JobStatus.RUNNING else current
            await self._session.execute(
                update(Table)
                .where(Table.id == job_id)
                .values(stop_request=request.value, status=following.value)
            )
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

    async def lock_unvalidated(self, job_id: str) -> Job | None:
        """Locks a job that no worker has claimed and whose files are not validated; else `None`."""
        row = await lock_job(self._session, job_id)
        if JobStatus(row.status) is not JobStatus.VALIDATING_FILES or await self._is_leased(job_id):
            return None
        return to_job(row)

    async def mark_validated(self, job_id: str, total_steps: int, method: StoredMethod) -> None:
        values = {"total_steps": total_steps, "method": method.document}
        await self._move(job_id, JobStatus.QUEUED, **values)

    async def mark_invalid(self, job_id: str, error: JobError) -> None:
        document = storable(asdict(error))
        await self._move(job_id, JobStatus.FAILED, error=document, finished_at=func.now())

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
        await delete_job(self._session, job_id)

    async def set_result_files(self, job_id: str, file_ids: list[str]) -> None:
        await self._session.execute(
            update(Table).where(Table.id == job_id).values(result_files=file_ids)
        )

    async def _move(self, job_id: str, following: JobStatus, **values: Any) -> None:
        await move_job(self._session, self._project_id, job_id, following, **values)
