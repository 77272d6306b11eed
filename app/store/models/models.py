"""Tuned models as rows, by the name that a tenant calls."""

from sqlalchemy import Select, and_, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import WrongState
from app.domain.models.model_users import used_by
from app.domain.models.tuned_models import TunedModel
from app.store.models.dropped_checkpoints import model_dropped
from app.store.models.models_in_use import users_of_model
from app.store.schema.jobs import FineTuningJobTable as Jobs
from app.store.schema.models import TunedModelTable as Table
from app.store.schema.permissions import CheckpointPermissionTable as Permission
from app.store.schema.projects import ProjectTable
from app.store.times import unix


class ModelStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, model: TunedModel) -> None:
        """Inserts a model; does nothing when the name exists, so that a commit can be repeated."""
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
                reasoning_effort=model.reasoning_effort,
            )
            .on_conflict_do_nothing(index_elements=[Table.project_id, Table.name])
        )

    async def get(self, name: str) -> TunedModel | None:
        """Returns the project's own model of that name, or else one shared with the project."""
        for query in (self._own(), self._shared()):
            row = await self._session.scalar(query.where(Table.name == name).limit(1))
            if row is not None:
                return _to_model(row)
        return None

    async def all(self) -> list[TunedModel]:
        """Returns own and shared models, newest first."""
        rows = [
            row
            for query in (self._own(), self._shared())
            for row in await self._session.scalars(query)
        ]
        rows.sort(key=lambda row: row.name)
        rows.sort(key=lambda row: row.created_at, reverse=True)
        return [_to_model(row) for row in rows]

    async def owner_in(self, organization_id: str, name: str) -> str | None:
        """Returns the project that owns a model, to a unit in the context of the organization."""
        return await self._session.scalar(
            select(Table.project_id)
            .join(ProjectTable, ProjectTable.id == Table.project_id)
            .where(
                ProjectTable.organization_id == organization_id,
                Table.name == name,
                Table.deleted_at.is_(None),
            )
            .limit(1)
        )

    def _own(self) -> Select[Table]:
        return select(Table).where(
            Table.project_id == self._project_id, Table.deleted_at.is_(None), ~model_dropped()
        )

    def _shared(self) -> Select[Table]:
        permitted = and_(
            Permission.project_id == Table.project_id, Permission.model_name == Table.name
        )
        return (
            select(Table)
            .join(Permission, permitted)
            .where(
                Permission.target_project_id == self._project_id,
                Permission.project_id != self._project_id,
                Table.deleted_at.is_(None),
            )
        )

    async def mark_deleted(self, name: str) -> None:
        """Hides a model of the project; its adapter is removed once its job has ended, unless a
        checkpoint has the same adapter.

        Raises `WrongState` while an unfinished job, eval run or export of the project uses it.
        """
        own = (Table.project_id == self._project_id, Table.name == name)
        job_id = await self._session.scalar(select(Table.job_id).where(*own))
        # The deletion of a job locks its row first, too.
        await self._session.execute(
            update(Jobs)
            .where(Jobs.project_id == self._project_id, Jobs.id == job_id)
            .values(clean_after=func.now())
        )
        # The check behind this write sees each use that began under the lock of the model.
        await self._session.execute(update(Table).where(*own).values(deleted_at=func.now()))
        await self._refuse_use(name)

    async def lock(self, name: str) -> bool:
        """Keeps a model of the project from deletion until the transaction ends. Returns `False`
        for a model that the project does not have.
        """
        query = self._own().where(Table.name == name).with_for_update(read=True)
        return await self._session.scalar(query) is not None

    async def _refuse_use(self, name: str) -> None:
        users = await users_of_model(self._session, self._project_id, name)
        if users:
            raise WrongState(
                f"Model '{name}' {used_by(users)}",
                param="model",
                code="model_in_use",
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
        reasoning_effort=row.reasoning_effort,
    )
