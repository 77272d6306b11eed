"""Finds and removes expired rows of all tenants, for the GPU plane only.

The rows are hidden from their tenants already. The caller removes the bytes that belong to a row
before it removes the row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.data.uploads import upload_directory
from app.domain.jobs.jobs import ENDED
from app.domain.models.exports import export_directory
from app.store.schema.audit_logs import AuditLogTable as AuditLog
from app.store.schema.dashboard_sessions import DashboardSessionTable as Session
from app.store.schema.exports import ModelExportTable as Export
from app.store.schema.feedback import FeedbackTable as Feedback
from app.store.schema.files import FileTable as File
from app.store.schema.idempotency import StoredResponseTable as Response
from app.store.schema.jobs import FineTuningJobTable as Job
from app.store.schema.registry import RegisteredObjectTable as Registered
from app.store.schema.stored_completions import StoredCompletionTable as Completion
from app.store.schema.uploads import UploadTable as Upload
from app.store.schema.usage import UsageRecordTable as UsageRecord
from app.store.schema.webhooks import WebhookEventTable as Event


@dataclass(frozen=True, slots=True)
class ExpiredObject:
    """A row that can be removed, and the object key of its bytes."""

    project_id: str
    id: str
    key: str


class ExpiryStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def files(self, limit: int, *, deleted_keep_s: float) -> list[ExpiredObject]:
        """Returns expired files, and files deleted at least `deleted_keep_s` ago, from which no
        list can continue paging. Leaves out a file that an unfinished job reads.
        """
        read = select(Job.id).where(
            Job.project_id == File.project_id,
            Job.status.not_in(ENDED),
            or_(Job.training_file == File.id, Job.validation_file == File.id),
        )
        old = func.now() - timedelta(seconds=deleted_keep_s)
        rows = await self._session.execute(
            select(File.project_id, File.id, File.object_key)
            .where(or_(File.expires_at <= func.now(), File.deleted_at <= old), ~read.exists())
            .order_by(File.project_id, File.id)
            .limit(limit)
        )
        return [ExpiredObject(row.project_id, row.id, row.object_key) for row in rows]

    async def remove_files(self, files: Sequence[ExpiredObject]) -> None:
        await self._session.execute(
            delete(File).where(tuple_(File.project_id, File.id).in_(_keys(files)))
        )

    async def known_files(self, project_id: str, file_ids: Sequence[str]) -> set[str]:
        """Returns the ids that have a row, in any state."""
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
        return [_upload(row.project_id, row.id) for row in rows]

    async def end_uploads(self, uploads: Sequence[ExpiredObject]) -> None:
        await self._session.execute(
            update(Upload)
            .where(tuple_(Upload.project_id, Upload.id).in_(_keys(uploads)))
            .where(Upload.status == "pending", Upload.expires_at <= func.now())
            .values(status="expired")
        )

    async def remove_uploads(self, limit: int, *, keep_s: float) -> list[ExpiredObject]:
        """Removes uploads that ended long ago. Returns them, so that the caller can remove their
        directories.
        """
        old = (
            select(Upload.project_id, Upload.id)
            .where(
                Upload.status != "pending",
                Upload.expires_at <= func.now() - timedelta(seconds=keep_s),
            )
            .limit(limit)
        )
        removed = await self._session.execute(
            delete(Upload)
            .where(tuple_(Upload.project_id, Upload.id).in_(old))
            .returning(Upload.project_id, Upload.id)
        )
        return [_upload(row.project_id, row.id) for row in removed]

    async def exports(self, limit: int, *, settled_s: float) -> list[ExpiredObject]:
        """Returns exports that expired or were deleted at least `settled_s` ago, when no claim of
        them still runs.
        """
        rows = await self._session.execute(
            select(Export.project_id, Export.id)
            .where(Export.expires_at <= func.now() - timedelta(seconds=settled_s))
            .order_by(Export.expires_at)
            .limit(limit)
        )
        return [
            ExpiredObject(row.project_id, row.id, export_directory(row.project_id, row.id))
            for row in rows
        ]

    async def remove_exports(self, exports: Sequence[ExpiredObject]) -> None:
        await self._session.execute(
            delete(Export).where(tuple_(Export.project_id, Export.id).in_(_keys(exports)))
        )

    async def remove_stored_responses(self, limit: int, *, keep_s: float) -> int:
        """Removes responses stored under an Idempotency-Key at least `keep_s` ago. Returns their
        number.
        """
        old = (
            select(Response.scope, Response.key)
            .where(Response.created_at <= func.now() - timedelta(seconds=keep_s))
            .limit(limit)
        )
        removed = await self._session.execute(
            delete(Response)
            .where(tuple_(Response.scope, Response.key).in_(old))
            .returning(Response.key)
        )
        return len(removed.all())

    async def remove_dashboard_sessions(self, limit: int) -> int:
        """Removes expired sessions of the dashboard and links. Returns their number."""
        old = select(Session.id).where(Session.expires_at <= func.now()).limit(limit)
        removed = await self._session.execute(
            delete(Session).where(Session.id.in_(old)).returning(Session.id)
        )
        return len(removed.all())

    async def remove_registered_objects(self, limit: int, *, keep_s: float) -> int:
        """Removes registered objects that were deleted at least `keep_s` ago. Returns their
        number.
        """
        old = (
            select(Registered.project_id, Registered.id)
            .where(Registered.deleted_at <= func.now() - timedelta(seconds=keep_s))
            .limit(limit)
        )
        removed = await self._session.execute(
            delete(Registered)
            .where(tuple_(Registered.project_id, Registered.id).in_(old))
            .returning(Registered.id)
        )
        return len(removed.all())

    async def remove_audit_logs(self, limit: int, *, days: float) -> int:
        """Removes entries of the audit log that are older. Returns their number."""
        old = (
            select(AuditLog.seq)
            .where(AuditLog.effective_at <= func.now() - timedelta(days=days))
            .limit(limit)
        )
        removed = await self._session.execute(
            delete(AuditLog).where(AuditLog.seq.in_(old)).returning(AuditLog.seq)
        )
        return len(removed.all())

    async def remove_completions(self, limit: int, *, days: float) -> int:
        """Removes stored chat completions that are older, with the feedback about them. Returns
        their number.
        """
        return await self._remove_aged(Completion, limit, days)

    async def remove_feedback(self, limit: int, *, days: float) -> int:
        """Removes feedback that is older. Returns its number."""
        return await self._remove_aged(Feedback, limit, days)

    async def _remove_aged(
        self, table: type[Completion | Feedback], limit: int, days: float
    ) -> int:
        old = (
            select(table.project_id, table.id)
            .where(table.created_at <= func.now() - timedelta(days=days))
            .limit(limit)
        )
        removed = await self._session.execute(
            delete(table).where(tuple_(table.project_id, table.id).in_(old)).returning(table.id)
        )
        return len(removed.all())

    async def remove_usage(self, limit: int, *, days: float) -> int:
        """Removes records of usage that are older. Returns their number."""
        old = (
            select(UsageRecord.project_id, UsageRecord.id)
            .where(UsageRecord.used_at <= func.now() - timedelta(days=days))
            .limit(limit)
        )
        removed = await self._session.execute(
            delete(UsageRecord)
            .where(tuple_(UsageRecord.project_id, UsageRecord.id).in_(old))
            .returning(UsageRecord.id)
        )
        return len(removed.all())

    async def remove_events(self, limit: int, *, keep_s: float) -> int:
        """Removes old webhook events with their deliveries. Returns the number of events."""
        old = (
            select(Event.project_id, Event.id)
            .where(Event.created_at <= func.now() - timedelta(seconds=keep_s))
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
