"""Checks new rows of a project against its quotas.

New jobs are the exception: their statement counts separately (`app.jobs.store`), so
simultaneous creates may exceed the limit, by at most the number of the API's connections.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import BigInteger, Select, case, cast, func, literal, select
from sqlalchemy import insert as plain_insert
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.accounts import NO_PROJECT, PROJECT_ARCHIVED
from app.accounts.tables import ProjectTable
from app.accounts.tables import UsageRecordTable as Table
from app.accounts.usage import (
    COUNTS,
    WIDTHS_S,
    Amounts,
    Quotas,
    UsageBucket,
    UsageGrouping,
    UsageQuery,
    UsageRecord,
    UsageSum,
    check_quota,
)
from app.evals.evals import OPEN_RUNS, EvalRunStatus
from app.evals.tables import EvalRunTable, EvalTable
from app.files.tables import FileTable, UploadPartTable, UploadTable
from app.jobs.jobs import Usage
from app.jobs.tables import FineTuningJobTable as Job
from app.kit.errors import AuthenticationFailed
from app.kit.ids import new_id
from app.kit.sql import SessionRows, from_row, moment
from app.models.adapters import ExportStatus
from app.models.tables import ModelExportTable, StoredCompletionTable
from app.teaching.coach.sessions import OPEN_SESSIONS
from app.teaching.coach.tables import CoachSessionTable
from app.teaching.feedback.tables import FeedbackTable
from app.teaching.students.tables import StudentTable
from app.tools.tables import RegisteredObjectTable, RegisteredVersionTable

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
        await self.check_upload()
        await self.check_bytes(size)

    async def check_upload(self) -> None:
        files = select(func.count()).where(
            FileTable.project_id == self._project_id, FileTable.deleted_at.is_(None)
        )
        await self._check("files", 1, files, self._of_pending(select(func.count())))

    async def check_bytes(self, size: int) -> None:
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
        head, version = RegisteredObjectTable, RegisteredVersionTable
        versions = select(func.count()).where(
            head.project_id == self._project_id,
            head.deleted_at.is_(None),
            version.project_id == head.project_id,
            version.object_id == head.id,
        )
        await self._check("registered_objects", 1, versions)

    async def check_student(self) -> None:
        await self._check("students", 1, self._count(StudentTable))

    async def check_coach_session(self) -> None:
        is_open = CoachSessionTable.status.in_(OPEN_SESSIONS)
        await self._check("open_coach_sessions", 1, self._count(CoachSessionTable).where(is_open))

    async def check_feedback(self, size: int) -> None:
        await self._check("feedback", 1, self._count(FeedbackTable))
        await self.check_bytes(size)

    async def check_eval_run(self, planned_items: int) -> None:
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


def _bytes(table: Any) -> Select[Any]:
    return select(func.coalesce(func.sum(table.bytes), 0))


_MOST: Final = 2**62
_COLUMNS: Final[dict[UsageGrouping, Any]] = {
    "project_id": Table.project_id,
    "api_key_id": Table.key_id,
    "model": Table.model,
    "job_id": Table.job_id,
    "line_item": Table.kind,
}


class UsageStore(SessionRows):
    async def insert(
        self, records: Sequence[UsageRecord], *, organization_id: str, project_id: str
    ) -> None:
        """Writes records of the project; one that is written already is left as it is."""
        rows = [
            {
                "id": record.id,
                "organization_id": organization_id,
                "project_id": project_id,
                "kind": record.kind,
                "key_id": record.key_id,
                "model": record.model,
                "job_id": record.job_id,
                "used_at": moment(record.used_at),
                **asdict(record.amounts),
            }
            for record in records
        ]
        await self._session.execute(insert(Table).on_conflict_do_nothing(), rows)

    async def fill(self, query: UsageQuery, buckets: list[UsageBucket]) -> list[UsageBucket]:
        """Returns the buckets with their sums; row-level security limits them to their owner."""
        if not buckets:
            return []
        width = WIDTHS_S[query.width]
        second = cast(func.floor(func.extract("epoch", Table.used_at)), BigInteger)
        start = (second // width * width).label("start")
        names = tuple(dict.fromkeys(query.group_by))
        groups = [_COLUMNS[name].label(f"by_{name}") for name in names]
        currency = [Table.currency] if query.in_money else []
        keys = [start, *groups, *currency]
        rows = await self._session.execute(
            select(*keys, *_sums(in_money=query.in_money))
            .where(
                Table.used_at >= moment(buckets[0].start_s),
                Table.used_at < moment(buckets[-1].end_s),
                *_conditions(query),
            )
            .group_by(*keys)
            .order_by(*keys)
        )
        found: dict[int, list[UsageSum]] = {}
        for row in rows:
            found.setdefault(row.start, []).append(_to_sum(row, names))
        return [
            replace(bucket, sums=found.get(bucket.start_s // width * width, []))
            for bucket in buckets
        ]


async def record_step(session: AsyncSession, job_id: str, used: Usage) -> None:
    values = {"id": new_id("usage_"), "kind": "fine_tuning", **asdict(amounts_of(used))}
    columns = ["organization_id", "project_id", "key_id", "model", "job_id", *values]
    source = select(
        *(Job.organization_id, Job.project_id, Job.key_id, Job.model, Job.id),
        *(literal(value, Table.__table__.c[name].type) for name, value in values.items()),
    ).where(Job.id == job_id)
    await session.execute(plain_insert(Table).inline().from_select(columns, source))


def amounts_of(used: Usage) -> Amounts:
    judged = [tokens for model in used.model_graders.values() for tokens in model.items()]
    return from_row(
        Amounts,
        used,
        input_tokens=used.prompt_tokens,
        output_tokens=used.completion_tokens,
        judge_input_tokens=_whole(n for key, n in judged if key.endswith("prompt_tokens")),
        judge_output_tokens=_whole(n for key, n in judged if key.endswith("completion_tokens")),
        training_s=used.training_time_s,
        gpu_s=used.gpu_seconds,
        cost=used.estimated_cost,
    )


def _whole(counts: Iterable[float]) -> int:
    """Returns a sum that a BIGINT holds: no server's counts make the commit of a step fail."""
    return round(min(sum(counts), _MOST))


def _sums(*, in_money: bool) -> list[Any]:
    columns = Table.__table__.c
    # The sum of a BIGINT is a NUMERIC, which has no largest value.
    sums = [func.sum(columns[name]).label(name) for name in COUNTS]
    return [*sums, func.sum(Table.cost).label("cost")] if in_money else sums


def _conditions(query: UsageQuery) -> list[Any]:
    conditions = [] if query.kind is None else [Table.kind == query.kind]
    filters = (
        (Table.project_id, query.project_ids),
        (Table.key_id, query.key_ids),
        (Table.model, query.models),
        (Table.job_id, query.job_ids),
    )
    return [*conditions, *(column.in_(wanted) for column, wanted in filters if wanted)]


def _to_sum(row: Any, names: Sequence[UsageGrouping]) -> UsageSum:
    counts = {name: _number(getattr(row, name)) for name in COUNTS}
    groups = {name: getattr(row, f"by_{name}") for name in names}
    cost, currency = (getattr(row, name, None) for name in ("cost", "currency"))
    amounts = Amounts(**counts, cost=cost, currency=currency)
    return UsageSum(amounts, **groups)


def _number(total: Decimal | float) -> Any:
    return int(total) if isinstance(total, Decimal) else total
