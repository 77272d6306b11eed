"""Transactions that see the rows of all tenants, for the GPU plane only.

The setting `app.system`, which only this module names, lets the worker's role bypass row-level
security where a table needs it. The API's role gets no further rows from it.
"""

from functools import cached_property
from typing import Generic, Self, TypeVar

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.database import Database
from app.kit.leases import LeasedRows
from app.kit.transactions import BaseUnitOfWork

Rows_co = TypeVar("Rows_co", bound=LeasedRows, covariant=True)


class CrossTenantUnitOfWork(BaseUnitOfWork):
    def __init__(self, database: Database) -> None:
        super().__init__(database.sessions, {"app.system": "on"})


class ClaimUnitOfWork(CrossTenantUnitOfWork, Generic[Rows_co]):
    def __init__(self, database: Database, rows: type[Rows_co]) -> None:
        super().__init__(database)
        self._rows = rows

    def giving_up_after(self, seconds: float) -> Self:
        """Raises `Unavailable` after so long a wait for a locked row."""
        self._context = {**self._context, "lock_timeout": f"{max(1, round(1000 * seconds))}ms"}
        return self

    @cached_property
    def leases(self) -> Rows_co:
        return self._rows(self._session)


async def set_tenant(session: AsyncSession, project_id: str) -> None:
    await session.execute(select(func.set_config("app.project", project_id, True)))
