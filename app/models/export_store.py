"""Exports as rows, and conditions for dropped checkpoints, which the job's row lists."""

from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    exists,
    func,
    not_,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.store import refuse_archived
from app.jobs.jobs import ENDED
from app.jobs.tables import CheckpointTable
from app.jobs.tables import FineTuningJobTable as Jobs
from app.kit.errors import WrongState
from app.kit.sql import Keyset, ProjectRows, from_row, storable
from app.models.adapters import OPEN_EXPORTS, ExportStage, ExportStatus, ModelExport, no_export
from app.models.models import CHECKPOINT_NAMES
from app.models.tables import OPEN, TunedModelTable
from app.models.tables import ModelExportTable as Table


def checkpoint_dropped() -> ColumnElement[bool]:
    model_deleted = exists(
        select(TunedModelTable.name)
        .join(
            Jobs,
            and_(Jobs.project_id == TunedModelTable.project_id, Jobs.id == TunedModelTable.job_id),
        )
        .where(
            TunedModelTable.project_id == CheckpointTable.project_id,
            TunedModelTable.name == CheckpointTable.model_name,
            TunedModelTable.deleted_at.is_not(None),
            Jobs.status.in_(ENDED),
        )
        .correlate(CheckpointTable)
    )
    return or_(_dropped(CheckpointTable, true()), model_deleted)


def is_checkpoint_model() -> ColumnElement[bool]:
    """Returns the condition for the model of a checkpoint, which is not the published one."""
    return TunedModelTable.name.regexp_match(CHECKPOINT_NAMES)


def model_dropped() -> ColumnElement[bool]:
    return _dropped(TunedModelTable, is_checkpoint_model())


def _dropped(
    table: type[CheckpointTable] | type[TunedModelTable], is_checkpoint: ColumnElement[bool]
) -> ColumnElement[bool]:
    return exists(
        select(Jobs.id)
        .where(
            Jobs.project_id == table.project_id,
            Jobs.id == table.job_id,
            is_checkpoint,
            Jobs.kept_checkpoints.is_not(None),
            not_(Jobs.kept_checkpoints.bool_op("@>")(func.to_jsonb(table.step))),
        )
        .correlate(table)
    )


class ExportStore(ProjectRows):
    async def insert(self, export: ModelExport) -> None:
        """Raises `WrongState` while another export of the model and kind is open."""
        inserted_id = await self._session.scalar(
            insert(Table)
            .values(
                id=export.id,
                project_id=self._project_id,
                model=export.model,
                base_model=export.base_model,
                kind=export.kind,
                status=export.status.value,
                bytes=export.bytes,
            )
            .on_conflict_do_nothing(
                index_elements=[Table.project_id, Table.model, Table.kind], index_where=text(OPEN)
            )
            .returning(Table.id)
        )
        if inserted_id is None:
            other = await self._session.scalar(
                select(Table.id).where(
                    *self._of(export.model),
                    Table.kind == export.kind,
                    Table.status.in_(OPEN_EXPORTS),
                )
            )
            raise WrongState(
                f"Export {other or 'another one'} of '{export.model}' has not ended: wait for it, "
                "or delete it.",
                param="model",
                code="export_in_progress",
            )
        await refuse_archived(self._session, self._project_id)

    async def get(self, model: str, export_id: str) -> ModelExport:
        row = await self._session.scalar(
            select(Table)
            .where(*self._of(model), Table.id == export_id)
            .execution_options(populate_existing=True)
        )
        if row is None:
            raise no_export(export_id)
        return _to_export(row)

    async def page(
        self, model: str, *, after: str | None, limit: int
    ) -> tuple[list[ModelExport], bool]:
        page, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session,
            select(Table).where(*self._of(model)),
            after=after,
            cursor=[Table.id == after, Table.model == model],
            limit=limit,
        )
        return [_to_export(row) for row in page], more

    async def mark_deleted(self, model: str, export_id: str) -> None:
        """Hides an export; an open one ends, and its worker writes no more. Raises `NotFound`."""
        deleted_id = await self._session.scalar(
            update(Table)
            .where(*self._of(model), Table.id == export_id)
            .values(**_canceled(), deleted_at=func.now(), expires_at=func.now())
            .returning(Table.id)
        )
        if deleted_id is None:
            raise no_export(export_id)

    async def cancel_all(self) -> None:
        await self._session.execute(
            update(Table)
            .where(Table.project_id == self._project_id, Table.status.in_(OPEN_EXPORTS))
            .values(**_canceled(), bytes=0, expires_at=func.now())
        )

    def _of(self, model: str) -> tuple[ColumnElement[bool], ...]:
        return (Table.project_id == self._project_id, Table.model == model, is_kept())


class LeasedExportStore:
    """Writes of the worker that has the lease. The unit of work has locked the row at its fence."""

    def __init__(self, session: AsyncSession, project_id: str, export_id: str) -> None:
        self._session = session
        self._project_id = project_id
        self._export_id = export_id

    async def get(self) -> ModelExport:
        row = (await self._session.scalars(select(Table).where(*self._row()))).one()
        return _to_export(row)

    async def reach(self, stage: ExportStage) -> None:
        await self._change(stage=stage)

    async def complete(self, object_key: str, *, size: int, keep: timedelta) -> None:
        await self._end(
            ExportStatus.COMPLETED, object_key=object_key, bytes=size, expires_at=func.now() + keep
        )

    async def fail(self, code: str, message: str, *, keep: timedelta) -> None:
        error = storable({"code": code, "message": message})
        await self._end(ExportStatus.FAILED, error=error, bytes=0, expires_at=func.now() + keep)

    async def _end(self, status: ExportStatus, **values: Any) -> None:
        await self._change(status=status.value, stage=None, finished_at=func.now(), **values)

    async def _change(self, **values: Any) -> None:
        await self._session.execute(update(Table).where(*self._row()).values(**values))

    def _row(self) -> tuple[ColumnElement[bool], ...]:
        return (Table.project_id == self._project_id, Table.id == self._export_id)


def is_kept() -> ColumnElement[bool]:
    return and_(
        Table.deleted_at.is_(None), or_(Table.expires_at.is_(None), Table.expires_at > func.now())
    )


def _canceled() -> dict[str, Any]:
    is_open = Table.status.in_(OPEN_EXPORTS)
    return {
        "status": case((is_open, ExportStatus.CANCELED.value), else_=Table.status),
        "finished_at": func.coalesce(Table.finished_at, func.now()),
        "stage": None,
    }


def _to_export(row: Table) -> ModelExport:
    return from_row(ModelExport, row, kind="merged", status=ExportStatus(row.status))
