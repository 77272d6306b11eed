"""Finds and removes expired rows of all tenants, for the GPU plane only.

The rows are hidden from their tenants already. The caller removes the bytes that belong to a row
before it removes the row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, assert_never

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.tables import AuditLogTable as AuditLog
from app.accounts.tables import DashboardSessionTable as Session
from app.accounts.tables import UsageRecordTable as UsageRecord
from app.across_tenants import CrossTenantUnitOfWork, set_tenant
from app.database import Database
from app.evals.evals import OPEN_RUNS
from app.evals.tables import EvalRunTable as EvalRun
from app.files.files import upload_directory
from app.files.tables import FileTable as File
from app.files.tables import UploadTable as Upload
from app.http.idempotency_store import StoredResponseTable as Response
from app.jobs.claims import EndedJobStore
from app.jobs.jobs import ENDED
from app.jobs.rows import CheckpointStore, EventStore
from app.jobs.store import delete_job
from app.jobs.tables import FineTuningJobTable as Job
from app.kit.errors import NotFound, WrongState
from app.kit.sql import SessionRows
from app.kit.transactions import of_session
from app.models.adapters import export_directory
from app.models.tables import ModelExportTable as Export
from app.models.tables import StoredCompletionTable as Completion
from app.teaching.feedback.tables import FeedbackTable as Feedback
from app.tools.tables import RegisteredObjectTable as Registered
from app.webhooks.tables import WebhookEventTable as Event


@dataclass(frozen=True, slots=True)
class ExpiredObject:
    project_id: str
    id: str
    key: str


class ExpiryStore(SessionRows):
    async def files(self, limit: int, *, deleted_keep_s: float) -> list[ExpiredObject]:
        """Returns expired files, and files deleted at least `deleted_keep_s` ago, from which no
        list can continue paging. Leaves out a file that an unfinished job reads.
        """
        old = _seconds_ago(deleted_keep_s)
        rows = await self._session.execute(
            select(File.project_id, File.id, File.object_key)
            .where(or_(File.expires_at <= func.now(), File.deleted_at <= old), ~_is_read().exists())
            .order_by(File.project_id, File.id)
            .limit(limit)
        )
        return [ExpiredObject(*row) for row in rows]

    async def remove_files(self, files: Sequence[ExpiredObject]) -> None:
        await self._session.execute(
            delete(File).where(tuple_(File.project_id, File.id).in_(_keys(files)))
        )

    async def known_files(self, project_id: str, file_ids: Sequence[str]) -> set[str]:
        known = await self._session.scalars(
            select(File.id).where(File.project_id == project_id, File.id.in_(file_ids))
        )
        return set(known)

    async def uploads(self, limit: int) -> list[ExpiredObject]:
        """Returns expired uploads whose parts may still be stored."""
        rows = await self._session.execute(
            select(Upload.project_id, Upload.id)
            .where(Upload.status == "pending", Upload.expires_at <= func.now())
            .order_by(Upload.expires_at)
            .limit(limit)
        )
        return [_upload(*row) for row in rows]

    async def end_uploads(self, uploads: Sequence[ExpiredObject]) -> None:
        await self._session.execute(
            update(Upload)
            .where(tuple_(Upload.project_id, Upload.id).in_(_keys(uploads)))
            .where(Upload.status == "pending", Upload.expires_at <= func.now())
            .values(status="expired")
        )

    async def remove_uploads(self, limit: int, *, keep_s: float) -> list[ExpiredObject]:
        """Removes uploads that ended long ago. Returns them: their directories are left."""
        is_old = Upload.expires_at <= _seconds_ago(keep_s)
        key = Upload.project_id, Upload.id
        removed = await self._removed(limit, and_(Upload.status != "pending", is_old), *key)
        return [_upload(*row) for row in removed]

    async def exports(self, limit: int, *, settled_s: float) -> list[ExpiredObject]:
        """Returns exports that ended at least `settled_s` ago, when no claim still runs."""
        rows = await self._session.execute(
            select(Export.project_id, Export.id)
            .where(Export.expires_at <= _seconds_ago(settled_s))
            .order_by(Export.expires_at)
            .limit(limit)
        )
        return [ExpiredObject(*row, export_directory(*row)) for row in rows]

    async def remove_exports(self, exports: Sequence[ExpiredObject]) -> None:
        await self._session.execute(
            delete(Export).where(tuple_(Export.project_id, Export.id).in_(_keys(exports)))
        )

    async def remove_stored_responses(self, limit: int, *, keep_s: float) -> int:
        """Returns the number of removed responses, as the following do of their rows."""
        is_old = Response.created_at <= _seconds_ago(keep_s)
        return len(await self._removed(limit, is_old, Response.scope, Response.key))

    async def remove_dashboard_sessions(self, limit: int) -> int:
        return len(await self._removed(limit, Session.expires_at <= func.now(), Session.id))

    async def remove_registered_objects(self, limit: int, *, keep_s: float) -> int:
        is_old = Registered.deleted_at <= _seconds_ago(keep_s)
        return len(await self._removed(limit, is_old, Registered.project_id, Registered.id))

    async def remove_audit_logs(self, limit: int, *, days: float) -> int:
        return len(await self._removed(limit, AuditLog.effective_at <= _before(days), AuditLog.seq))

    async def remove_completions(self, limit: int, *, days: float) -> int:
        is_old = Completion.created_at <= _before(days)
        return len(await self._removed(limit, is_old, Completion.project_id, Completion.id))

    async def remove_feedback(self, limit: int, *, days: float) -> int:
        is_old = Feedback.created_at <= _before(days)
        return len(await self._removed(limit, is_old, Feedback.project_id, Feedback.id))

    async def remove_usage(self, limit: int, *, days: float) -> int:
        is_old = UsageRecord.used_at <= _before(days)
        return len(await self._removed(limit, is_old, UsageRecord.project_id, UsageRecord.id))

    async def _removed(
        self, limit: int, condition: ColumnElement[bool], *key: InstrumentedAttribute[Any]
    ) -> Sequence[Any]:
        old = select(*key).where(condition).limit(limit)
        statement = delete(key[0].class_).where(tuple_(*key).in_(old)).returning(*key)
        return (await self._session.execute(statement)).all()

    async def remove_events(self, limit: int, *, keep_s: float) -> int:
        old = (
            select(Event.project_id, Event.id)
            .where(Event.created_at <= _seconds_ago(keep_s))
            .order_by(Event.created_at)
            .limit(limit)
            .cte()
        )
        removed = await self._session.scalars(
            delete(Event)
            .where(Event.project_id == old.c.project_id, Event.id == old.c.id)
            .returning(Event.id)
        )
        return len(removed.all())


def _keys(rows: Sequence[ExpiredObject]) -> list[tuple[str, str]]:
    return [(row.project_id, row.id) for row in rows]


def _upload(project_id: str, upload_id: str) -> ExpiredObject:
    return ExpiredObject(project_id, upload_id, upload_directory(project_id, upload_id))


def _is_read() -> Select[str]:
    return select(Job.id).where(
        Job.project_id == File.project_id,
        Job.status.not_in(ENDED),
        or_(Job.training_file == File.id, Job.validation_file == File.id),
    )


def _seconds_ago(seconds: float) -> ColumnElement[Any]:
    return func.now() - timedelta(seconds=seconds)


def _before(days: float) -> ColumnElement[Any]:
    return func.now() - timedelta(days=days)


RetainedKind = Literal["jobs", "checkpoints", "rollouts"]


@dataclass(frozen=True, slots=True)
class AgedJob:
    project_id: str
    job_id: str
    finished_at: datetime


class RetentionStore(SessionRows):
    async def expire_files(self, limit: int, *, days: float) -> int:
        run = select(EvalRun.id).where(
            EvalRun.project_id == File.project_id,
            EvalRun.status.in_(OPEN_RUNS),
            EvalRun.data_source["source"]["id"].astext == File.id,
        )
        aged = (
            select(File.project_id, File.id)
            .where(
                File.created_at <= _before(days),
                File.deleted_at.is_(None),
                or_(File.expires_at.is_(None), File.expires_at > func.now()),
                ~_is_read().exists(),
                ~run.exists(),
            )
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        expired = await self._session.execute(
            update(File)
            .where(tuple_(File.project_id, File.id).in_(aged))
            .values(expires_at=func.now())
            .returning(File.id)
        )
        return len(expired.all())

    async def aged(
        self, kind: RetainedKind, limit: int, *, days: float, after: AgedJob | None
    ) -> list[AgedJob]:
        query = _of(kind).where(Job.finished_at <= _before(days))
        if after is not None:
            query = query.where(
                tuple_(Job.finished_at, Job.id) > tuple_(after.finished_at, after.job_id)
            )
        rows = await self._session.execute(query.order_by(Job.finished_at, Job.id).limit(limit))
        return [
            AgedJob(project_id, job_id, finished_at)
            for project_id, job_id, finished_at in rows
            if finished_at is not None  # the query asks for it; the type does not say so
        ]

    async def mark(self, kind: RetainedKind, job: AgedJob, *, days: float) -> bool:
        """Marks one job. Returns False for one whose checkpoints are all in use."""
        await set_tenant(self._session, job.project_id)
        match kind:
            case "jobs":
                try:
                    await delete_job(self._session, job.job_id)
                except (NotFound, WrongState):
                    return False
            case "checkpoints":
                return await self._drop_checkpoints(job, days)
            case "rollouts":
                await self._change(job, rollouts_deleted_at=func.now())
                await self._append_event(job, "The rollouts were removed", days)
            case _:
                assert_never(kind)
        return True

    async def _drop_checkpoints(self, job: AgedJob, days: float) -> bool:
        checkpoints = CheckpointStore(self._session, job.project_id)
        kept, needed = await checkpoints.kept(job.job_id), await checkpoints.needed(job.job_id)
        left = sorted(needed & kept.keys())
        if len(left) == len(kept) and kept:
            return False
        await self._change(job, kept_checkpoints=left)
        if kept:
            await self._append_event(job, f"{len(kept) - len(left)} checkpoints were removed", days)
        return bool(kept)

    async def _change(self, job: AgedJob, **values: Any) -> None:
        await self._session.execute(
            update(Job)
            .where(Job.project_id == job.project_id, Job.id == job.job_id)
            .values(clean_after=func.now(), **values)
        )

    async def _append_event(self, job: AgedJob, what: str, days: float) -> None:
        events = EventStore(self._session, job.project_id)
        message = f"{what}: the operator keeps them for {days:g} days after the end of a job."
        await events.append(job.job_id, message=message)


def _of(kind: RetainedKind) -> Select[str, str, datetime | None]:
    query = select(Job.project_id, Job.id, Job.finished_at).where(
        Job.status.in_(ENDED), Job.deleted_at.is_(None), Job.finished_at.is_not(None)
    )
    match kind:
        case "jobs":
            return query
        case "checkpoints":
            return query.where(
                Job.step > 0,
                or_(
                    Job.kept_checkpoints.is_(None),
                    func.jsonb_array_length(Job.kept_checkpoints) > 0,
                ),
            )
        case "rollouts":
            return query.where(Job.started_at.is_not(None), Job.rollouts_deleted_at.is_(None))
        case _:
            assert_never(kind)


class MaintenanceUnitOfWork(CrossTenantUnitOfWork):
    expiry = of_session(ExpiryStore)
    ended_jobs = of_session(EndedJobStore)
    retention = of_session(RetentionStore)


def maintenance(database: Database) -> MaintenanceUnitOfWork:
    return MaintenanceUnitOfWork(database)
