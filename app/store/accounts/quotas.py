"""Checks new rows of a project against its quotas.

Promises: a check and the insert that follows it in the same transaction are exact, because the
check locks the project's row against other checks. New jobs are the exception: their statement
counts separately (`app.store.jobs.new_jobs`), so simultaneous creates may exceed the limit, by at
most the number of the API's connections.
"""

from typing import Any, Final

from sqlalchemy import Select, case, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.accounts.keys import NO_PROJECT, PROJECT_ARCHIVED
from app.domain.accounts.quotas import Quotas, check_quota
from app.domain.coach.sessions import OPEN_SESSIONS
from app.domain.errors import AuthenticationFailed
from app.domain.evals.evals import OPEN_RUNS, EvalRunStatus
from app.domain.models.exports import ExportStatus
from app.store.schema.coach import CoachSessionTable
from app.store.schema.eval_runs import EvalRunTable
from app.store.schema.evals import EvalTable
from app.store.schema.exports import ModelExportTable
from app.store.schema.feedback import FeedbackTable
from app.store.schema.files import FileTable
from app.store.schema.projects import ProjectTable
from app.store.schema.registry import RegisteredObjectTable, RegisteredVersionTable
from app.store.schema.stored_completions import StoredCompletionTable
from app.store.schema.students import StudentTable
from app.store.schema.uploads import UploadPartTable, UploadTable

_OWN: Final[dict[str, InstrumentedAttribute[int | None]]] = {
    "queued_eval_runs": ProjectTable.max_queued_eval_runs,
    "queued_exports": ProjectTable.max_queued_exports,
    "files": ProjectTable.max_files,
    "stored_bytes": ProjectTable.max_stored_bytes,
    "eval_output_items": ProjectTable.max_eval_output_items,
    "registered_objects": ProjectTable.max_registered_objects,
    "students": ProjectTable.max_students,
    "open_coach_sessions": ProjectTable.max_open_coach_sessions,
    "feedback": ProjectTable.max_feedback,
}


class QuotaStore:
    """The quotas of one project. Every verb raises `QuotaExceeded`."""

    def __init__(self, session: AsyncSession, project_id: str, quotas: Quotas) -> None:
        self._session = session
        self._project_id = project_id
        self._quotas = quotas

    async def check_file(self, size: int) -> None:
        """Checks the quota for a file of `size` bytes."""
        await self.check_upload()
        await self.check_bytes(size)

    async def check_upload(self) -> None:
        """Checks the quota for an upload, which will become a file."""
        files = select(func.count()).where(
            FileTable.project_id == self._project_id, FileTable.deleted_at.is_(None)
        )
        await self._check("files", 1, files, self._of_pending(select(func.count())))

    async def check_bytes(self, size: int) -> None:
        """Checks the quota for `size` bytes of a file, of a part of an upload, of an export, of an
        eval, of a run of one with its rows, of a stored chat completion, or of feedback.
        """
        stored = _bytes(FileTable).where(
            FileTable.project_id == self._project_id, FileTable.deleted_at.is_(None)
        )
        parts = self._of_pending(_bytes(UploadPartTable)).where(
            UploadPartTable.project_id == self._project_id,
            UploadPartTable.upload_id == UploadTable.id,
        )
        evals = _bytes(EvalTable).where(
            EvalTable.project_id == self._project_id, EvalTable.job_id.is_(None)
        )
        runs = _bytes(EvalRunTable).where(EvalRunTable.project_id == self._project_id)
        exports = _bytes(ModelExportTable).where(
            ModelExportTable.project_id == self._project_id, ModelExportTable.deleted_at.is_(None)
        )
        said = [
            _bytes(table).where(table.project_id == self._project_id)
            for table in (StoredCompletionTable, FeedbackTable)
        ]
        await self._check("stored_bytes", size, stored, parts, evals, runs, exports, *said)

    async def check_registered_object(self) -> None:
        """Checks the quota for a version of a registered object."""
        head, version = RegisteredObjectTable, RegisteredVersionTable
        versions = select(func.count()).where(
            head.project_id == self._project_id,
            head.deleted_at.is_(None),
            version.project_id == head.project_id,
            version.object_id == head.id,
        )
        await self._check("registered_objects", 1, versions)

    async def check_student(self) -> None:
        """Checks the quota for a student."""
        await self._check("students", 1, self._count(StudentTable))

    async def check_coach_session(self) -> None:
        """Checks the quota for a Coach session."""
        is_open = CoachSessionTable.status.in_(OPEN_SESSIONS)
        await self._check("open_coach_sessions", 1, self._count(CoachSessionTable).where(is_open))

    async def check_feedback(self, size: int) -> None:
        """Checks the quota for a piece of feedback of `size` bytes."""
        await self._check("feedback", 1, self._count(FeedbackTable))
        await self.check_bytes(size)

    async def check_eval_run(self, planned_items: int) -> None:
        """Checks the quota for a run that makes so many output items."""
        runs = select(func.count()).where(
            EvalRunTable.project_id == self._project_id,
            EvalRunTable.status == EvalRunStatus.QUEUED.value,
        )
        await self._check("queued_eval_runs", 1, runs)
        made = EvalRunTable.passed + EvalRunTable.failed + EvalRunTable.errored
        counted = case((EvalRunTable.status.in_(OPEN_RUNS), EvalRunTable.planned_items), else_=made)
        items = select(func.coalesce(func.sum(counted), 0)).where(
            EvalRunTable.project_id == self._project_id
        )
        await self._check("eval_output_items", planned_items, items)

    async def check_export(self, size: int) -> None:
        """Checks the quota for an export of about `size` bytes."""
        exports = select(func.count()).where(
            ModelExportTable.project_id == self._project_id,
            ModelExportTable.status == ExportStatus.QUEUED.value,
        )
        await self._check("queued_exports", 1, exports)
        await self.check_bytes(size)

    def _count(self, table: type[StudentTable | CoachSessionTable | FeedbackTable]) -> Select[Any]:
        return select(func.count()).where(table.project_id == self._project_id)

    def _of_pending(self, query: Select[Any]) -> Select[Any]:
        return query.where(
            UploadTable.project_id == self._project_id,
            UploadTable.status == "pending",
            UploadTable.expires_at > func.now(),
        )

    async def _check(self, name: str, adding: int, *counts: Select[Any]) -> None:
        limit = func.coalesce(_OWN[name], getattr(self._quotas, name))
        # The lock comes before the count: a statement sees what was committed before it began.
        own = await self._session.scalar(
            select(limit).where(ProjectTable.id == self._project_id).with_for_update(key_share=True)
        )
        used = 0
        for count in counts:
            used += int(await self._session.scalar(count) or 0)
        if own is None:
            raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)
        check_quota(name, used=used, adding=adding, limit=int(own))


def _bytes(
    table: type[
        FileTable
        | UploadPartTable
        | EvalTable
        | EvalRunTable
        | ModelExportTable
        | StoredCompletionTable
        | FeedbackTable
    ],
) -> Select[Any]:
    return select(func.coalesce(func.sum(table.bytes), 0))
