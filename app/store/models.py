"""Tuned models as rows, by the name a tenant calls."""

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.tuned_models import TunedModel
from app.store.schema.models import TunedModelTable as Table
from app.store.times import unix


class ModelStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, model: TunedModel) -> None:
        """A name that is there stays as it is: a repeated commit makes no second model."""
        await self._session.execute(
            insert(Table)
            .values(
                name=model.name,
                project_id=self._project_id,
                job_id=model.job_id,
                base_model=model.base_model,
                engine_name=model.engine_name,
                object_key=model.object_key,
                step=model.step,
            )
            .on_conflict_do_nothing(index_elements=[Table.project_id, Table.name])
        )

    async def get(self, name: str) -> TunedModel | None:
        row = await self._session.scalar(
            select(Table).where(Table.name == name, Table.deleted_at.is_(None))
        )
        return None if row is None else _to_model(row)

    async def all(self) -> list[TunedModel]:
        """Newest first."""
        rows = await self._session.scalars(
            select(Table)
            .where(Table.deleted_at.is_(None))
            .order_by(Table.created_at.desc(), Table.name)
        )
        return [_to_model(row) for row in rows]

    async def mark_deleted(self, name: str) -> None:
        await self._session.execute(
            update(Table).where(Table.name == name).values(deleted_at=func.now())
        )


def _to_model(row: Table) -> TunedModel:
    return TunedModel(
        name=row.name,
        project_id=row.project_id,
        job_id=row.job_id,
        base_model=row.base_model,
        engine_name=row.engine_name,
        object_key=row.object_key,
        step=row.step,
        created_at=unix(row.created_at),
    )
