"""Service accounts as rows."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.keys import ServiceAccount, ServiceAccountRole
from app.domain.errors import NotFound
from app.store.paging import Keyset
from app.store.schema.service_accounts import ServiceAccountTable as Table
from app.store.times import unix

_OLDEST_FIRST: Final = Keyset((Table.created_at, Table.id))


class ServiceAccountStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def insert(self, account: ServiceAccount, *, organization_id: str) -> None:
        await self._session.execute(
            insert(Table).values(
                id=account.id,
                organization_id=organization_id,
                project_id=account.project_id,
                name=account.name,
                role=account.role.value,
            )
        )

    async def get(self, project_id: str, account_id: str, *, lock: bool = False) -> ServiceAccount:
        """Raises `NotFound`. With `lock`, the account is not deleted until the transaction ends."""
        query = (
            select(Table)
            .where(
                Table.project_id == project_id, Table.id == account_id, Table.deleted_at.is_(None)
            )
            .execution_options(populate_existing=True)
        )
        row = await self._session.scalar(query.with_for_update() if lock else query)
        if row is None:
            raise NotFound(f"No such service account: {account_id}")
        return _to_account(row)

    async def named(self, project_id: str, ids: Collection[str]) -> dict[str, ServiceAccount]:
        rows = await self._session.scalars(
            select(Table).where(Table.project_id == project_id, Table.id.in_(ids))
        )
        return {row.id: _to_account(row) for row in rows}

    async def page(
        self, project_id: str, *, after: str | None, limit: int
    ) -> tuple[list[ServiceAccount], bool]:
        """Returns a page, oldest first."""
        query = select(Table).where(Table.project_id == project_id, Table.deleted_at.is_(None))
        page, more = await _OLDEST_FIRST.page(
            self._session,
            query,
            after=after,
            cursor=[Table.project_id == project_id, Table.id == after],
            limit=limit,
        )
        return [_to_account(row) for row in page], more

    async def change(
        self, account_id: str, *, name: str | None, role: ServiceAccountRole | None
    ) -> None:
        """Updates the fields that are not `None`."""
        values: dict[str, Any] = {}
        if name is not None:
            values["name"] = name
        if role is not None:
            values["role"] = role.value
        if values:
            await self._session.execute(
                update(Table).where(Table.id == account_id).values(**values)
            )

    async def delete(self, account_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == account_id).values(deleted_at=func.now())
        )


def _to_account(row: Table) -> ServiceAccount:
    return ServiceAccount(
        id=row.id,
        project_id=row.project_id,
        name=row.name,
        role=ServiceAccountRole(row.role),
        created_at=unix(row.created_at),
    )
