"""Checkpoint permissions as rows of the project that owns the model."""

from collections.abc import Sequence

from sqlalchemy import Select, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.domain.errors import InvalidRequest, NotFound
from app.domain.ids import new_id
from app.domain.models.permissions import CheckpointPermission
from app.store.paging import Keyset
from app.store.schema.permissions import CheckpointPermissionTable as Table
from app.store.times import unix


class PermissionStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def grant(
        self, model_name: str, target_project_ids: Sequence[str], *, organization_id: str
    ) -> list[CheckpointPermission]:
        """Inserts one row for each project, in the order of the ids; leaves existing rows
        unchanged.

        Raises `InvalidRequest` for a project that the organization does not have. The transaction
        then fails as a whole, and nothing is granted.
        """
        for target in target_project_ids:
            statement = insert(Table).values(
                id=new_id("cp_"),
                organization_id=organization_id,
                project_id=self._project_id,
                model_name=model_name,
                target_project_id=target,
                created_at=func.clock_timestamp(),
            )
            try:
                await self._session.execute(statement.on_conflict_do_nothing())
            except IntegrityError as error:
                raise InvalidRequest(
                    f"Project '{target}' does not exist in this organization.",
                    param="project_ids",
                    code="project_not_found",
                ) from error
        rows = await self._session.scalars(
            self._of(model_name).where(Table.target_project_id.in_(target_project_ids))
        )
        granted = {row.target_project_id: _to_permission(row) for row in rows}
        return [granted[target] for target in dict.fromkeys(target_project_ids)]

    async def page(
        self,
        model_name: str,
        *,
        project_id: str | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[CheckpointPermission], bool]:
        query = self._of(model_name)
        if project_id is not None:
            query = query.where(Table.target_project_id == project_id)
        keyset = Keyset((Table.created_at, Table.id), descending=descending)
        page, more = await keyset.page(
            self._session,
            query,
            after=after,
            cursor=[*self._is_of(model_name), Table.id == after],
            limit=limit,
        )
        return [_to_permission(row) for row in page], more

    async def revoke(self, model_name: str, permission_id: str) -> None:
        """Raises `NotFound`."""
        deleted_id = await self._session.scalar(
            delete(Table)
            .where(
                Table.project_id == self._project_id,
                Table.model_name == model_name,
                Table.id == permission_id,
            )
            .returning(Table.id)
        )
        if deleted_id is None:
            raise NotFound(f"No such permission: {permission_id}", param="permission_id")

    def _of(self, model_name: str) -> Select[Table]:
        return select(Table).where(*self._is_of(model_name))

    def _is_of(self, model_name: str) -> tuple[ColumnElement[bool], ...]:
        return (Table.project_id == self._project_id, Table.model_name == model_name)


def _to_permission(row: Table) -> CheckpointPermission:
    return CheckpointPermission(
        id=row.id,
        model_name=row.model_name,
        project_id=row.target_project_id,
        created_at=unix(row.created_at),
    )
