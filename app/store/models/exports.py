"""Exports of models as rows: the verbs of their tenant, and the writes of the worker."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import WrongState
from app.domain.models.exports import (
    OPEN_EXPORTS,
    ExportStage,
    ExportStatus,
    ModelExport,
    no_export,
)
from app.store.accounts.projects import refuse_archived
from app.store.paging import Keyset
from app.store.schema.exports import OPEN
from app.store.schema.exports import ModelExportTable as Table
from app.store.storable import storable
from app.store.times import unix, unix_or_none


class ExportStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, export: ModelExport) -> None:
        """Raises `WrongState` while another export of the model and kind is open, also one that is
        inserted at the same instant: the insert waits for its commit.
        """
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
                index_elements=[Table.project_id, Table.model, Table.kind],
                index_where=text(OPEN),
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
        """Raises `NotFound`."""
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
        """Returns a page, newest first."""
        page, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session,
            select(Table).where(*self._of(model)),
            after=after,
            cursor=[Table.id == after, Table.model == model],
            limit=limit,
        )
        return [_to_export(row) for row in page], more

    async def mark_deleted(self, model: str, export_id: str) -> None:
        """Hides an export; one that is open ends, and its worker can write nothing more. Raises
        `NotFound`.
        """
        deleted_id = await self._session.scalar(
            update(Table)
            .where(*self._of(model), Table.id == export_id)
            .values(**_canceled(), deleted_at=func.now(), expires_at=func.now())
            .returning(Table.id)
        )
        if deleted_id is None:
            raise no_export(export_id)

    async def cancel_all(self) -> None:
        """Ends every open export of the project."""
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
    """Returns the condition that the export is neither deleted nor expired."""
    return and_(
        Table.deleted_at.is_(None), or_(Table.expires_at.is_(None), Table.expires_at > func.now())
    )


def _canceled() -> dict[str, Any]:
    """Returns the values of an export that ends now, unless it has ended."""
    is_open = Table.status.in_(OPEN_EXPORTS)
    return {
        "status": case((is_open, ExportStatus.CANCELED.value), else_=Table.status),
        "finished_at": func.coalesce(Table.finished_at, func.now()),
        "stage": None,
    }


def _to_export(row: Table) -> ModelExport:
    return ModelExport(
        id=row.id,
        model=row.model,
        base_model=row.base_model,
        kind="merged",
        status=ExportStatus(row.status),
        stage=row.stage,  # type: ignore[arg-type]  # the column has no other values
        bytes=row.bytes,
        object_key=row.object_key,
        error=row.error,
        created_at=unix(row.created_at),
        finished_at=unix_or_none(row.finished_at),
        expires_at=unix_or_none(row.expires_at),
    )
