"""The insert of a new job, its eval and its first events (also in the log) as one statement.

The statement also checks the job's files and locks its project, and writes nothing unless all files
are usable and the project is active. Foreign keys are checked when the statement ends, when the
children's job exists.
"""

from collections.abc import Sequence
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
from app.accounts.usage import check_quota
from app.evals.evals import Eval
from app.evals.store import eval_row
from app.evals.tables import EvalTable
from app.evals.tables import EvalTable as EvalDeletion
from app.events.store import EventLogTable, job_event_row
from app.files.files import NOT_READY, not_ready
from app.files.store import UNEXPIRED
from app.files.tables import FileTable
from app.files.tables import FileTable as File
from app.jobs.event_store import event_row
from app.jobs.jobs import TERMINAL, EventLevel, Job, JobStatus
from app.jobs.rows import COLUMNS, JOBS, job_row, lock_job, to_job
from app.jobs.tables import CheckpointTable as Checkpoint
from app.jobs.tables import FineTuningJobTable as Table
from app.jobs.tables import JobEventTable
from app.kit.errors import AuthenticationFailed, InvalidRequest, WrongState
from app.kit.sql import PreparedStatement, Scope
from app.models.export_store import checkpoint_dropped, is_checkpoint_model
from app.models.models import used_by
from app.models.store import checkpoint_in_use, users_of_model
from app.models.tables import TunedModelTable as Model

_NOT_BEGUN: Final = (JobStatus.VALIDATING_FILES.value, JobStatus.QUEUED.value)
Rows = dict[str, dict[str, Any]]
PURPOSE: Final = "fine-tune"
"""The purpose that every file of a job must have."""
_TABLES = {
    "job": JOBS,
    "eval": cast("CoreTable", EvalTable.__table__),
    "event": cast("CoreTable", JobEventTable.__table__),
    "log": cast("CoreTable", EventLogTable.__table__),
}
_MAX_EVENTS: Final = 8
"""Largest number of events; each number has a separate statement, which is built once."""


def new_rows(
    job: Job,
    *,
    secrets: bytes | None,
    job_eval: Eval | None,
    event_message: str,
    notices: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> Rows:
    """Returns the values of all new rows, by table and column. Each notice and each warning becomes
    an event after the first one.
    """
    rows: Rows = {"job": job_row(job, secrets)}
    if job_eval is not None:
        rows["eval"] = eval_row(job.project_id, job_eval)
    event = event_row(job.project_id, job.id, event_message)
    rows |= {"event": event, "log": job_event_row(event)}
    events: list[tuple[EventLevel, str]] = [("info", notice) for notice in notices]
    events += [("warn", warning) for warning in warnings]
    for number, (level, message) in enumerate(events[:_MAX_EVENTS], start=1):
        later = event_row(job.project_id, job.id, message, level=level)
        rows |= {f"event{number}": later, f"log{number}": job_event_row(later)}
    return rows


def statement_of(rows: Rows) -> PreparedStatement:
    return _statement(tuple((name, *row) for name, row in rows.items()))


def parameters(rows: Rows, job: Job, *, queued_jobs: int) -> dict[str, Any]:
    files = sorted({file_id for file_id in _files(job).values() if file_id is not None})
    columns = {
        f"{name}_{column}": value for name, row in rows.items() for column, value in row.items()
    }
    return {
        **columns,
        "files": files,
        "files_count": len(files),
        "queued_jobs": queued_jobs,
    }


def stored_job(row: Any, job: Job) -> Job:
    """Reads the statement's row, which is `None` when row-level security hides the project.

    Raises `AuthenticationFailed` for a hidden or archived project, `InvalidRequest` for a file that
    does not exist, is not ready or has another purpose, and `QuotaExceeded`.
    """
    if row is None or row.project_archived_at is not None:
        raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)
    if row.id is None:
        _refuse_unusable_files(_files(job), row.purposes)
        check_quota("queued_jobs", used=row.queued, adding=1, limit=row.most_queued)
        raise RuntimeError("a job was not written although nothing forbids it")
    return to_job(row)


def _files(job: Job) -> dict[str, str | None]:
    return {"training_file": job.training_file, "validation_file": job.validation_file}


def _refuse_unusable_files(files: dict[str, str | None], purposes: dict[str, str]) -> None:
    for param, file_id in files.items():
        if file_id is not None and file_id not in purposes:
            raise InvalidRequest(
                f"{param} {file_id} does not exist.", param=param, code="file_not_found"
            )
        if file_id is not None and purposes[file_id] == NOT_READY:
            raise not_ready(file_id, param)
        if file_id is not None and purposes[file_id] != PURPOSE:
            raise InvalidRequest(
                f"{param} {file_id} has purpose '{purposes[file_id]}', but must have '{PURPOSE}'.",
                param=param,
                code="invalid_value",
            )


@cache
def _statement(rows: tuple[tuple[str, ...], ...]) -> PreparedStatement:
    """Builds the statement once for each set of rows: with or without an eval and warnings."""
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
        job,
        project.c.project_archived_at,
        project.c.most_queued,
        queue.c.queued,
        files.c.purposes,
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
    """Counts the project's jobs that no worker has begun."""
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
    usable = func.count().filter(file.c.purpose == PURPOSE).label("usable")
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
