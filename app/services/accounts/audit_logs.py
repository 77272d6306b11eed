"""Use cases of an organization's audit log: pages, and the export of all entries."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from app.domain.accounts.audit_logs import AuditEntry, AuditFilter
from app.domain.accounts.tenants import AdminPrincipal
from app.store.database import Database

_BATCH: Final = 500


class AuditLogService:
    def __init__(self, database: Database, principal: AdminPrincipal) -> None:
        self._database = database
        self._organization_id = principal.organization_id

    async def page(
        self, wanted: AuditFilter, *, after: str | None, before: str | None, limit: int
    ) -> tuple[list[AuditEntry], bool]:
        async with self._database.organization(self._organization_id) as unit:
            return await unit.audit_logs.page(
                self._organization_id, wanted, after=after, before=before, limit=limit
            )

    async def batches(
        self, wanted: AuditFilter, *, check: Callable[[], Awaitable[object]]
    ) -> AsyncGenerator[list[AuditEntry], None]:
        """Yields all entries, newest first; those that are added meanwhile are left out. Calls
        `check` before each batch, which raises once the caller's key has ended.
        """
        after, more = None, True
        while more:
            await check()
            entries, more = await self.page(wanted, after=after, before=None, limit=_BATCH)
            yield entries
            after = entries[-1].id if entries else None
