"""Claims of sessions whose next step is due, over all tenants, for the API's processes.

The API's role sees the rows of one project at a time. `due_coach_sessions`, a function that runs as
the tables' owner, names the sessions that are due in fair order, with their tenants and nothing of
their contents. Each is then claimed as its own tenant, by the code that claims every leased row.
This is the only module that looks across tenants for the control plane; `Database` alone imports
it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from typing_extensions import override

from app.domain.accounts.tenants import Tenant
from app.domain.coach.sessions import CoachStatus
from app.store.leases.leases import Lease, LeasedRows
from app.store.schema.coach import CoachSessionTable as Table
from app.store.transactions.base_unit import BaseUnitOfWork, Sessions
from app.store.transactions.statements import PROJECT

_DUE = text("SELECT * FROM due_coach_sessions(:at_most)")


class LeasedCoachSessions(LeasedRows):
    table: ClassVar[type[Table]] = Table
    open_states = (CoachStatus.RUNNING.value,)

    async def due(self, at_most: int) -> list[tuple[Tenant, str]]:
        """Returns the tenants and ids of sessions to claim, in the order in which they are due."""
        rows = await self._session.execute(_DUE, {"at_most": at_most})
        return [
            (
                Tenant(
                    organization_id=row.organization_id,
                    project_id=row.project_id,
                    organization_slug=row.organization_slug,
                    key_id=row.key_id,
                ),
                row.id,
            )
            for row in rows
        ]

    async def claim(self, project_id: str, session_id: str, lease_s: float) -> list[Lease]:
        """Claims a session that is due; returns nothing once another process has claimed it."""
        chosen = select(Table.project_id, Table.id).where(
            Table.project_id == project_id,
            Table.id == session_id,
            Table.next_step_at <= func.now(),
        )
        return await self.claim_chosen(chosen, lease_s)

    @override
    def changes_of_claim(self) -> Mapping[str, Any]:
        return {"claimed_at": func.now()}


class _Claims(BaseUnitOfWork):
    @override
    async def _open(self, session: AsyncSession) -> None:
        self.leases = LeasedCoachSessions(session)


async def claim_due(sessions: Sessions, at_most: int, lease_s: float) -> list[tuple[Tenant, Lease]]:
    """Claims up to `at_most` sessions, each in its tenant's transaction. Raises `Unavailable`."""
    async with _Claims(sessions, {}) as unit:
        due = await unit.leases.due(at_most)
    claimed: list[tuple[Tenant, Lease]] = []
    for tenant, session_id in due:
        async with _Claims(sessions, {PROJECT: tenant.project_id}) as unit:
            leases = await unit.leases.claim(tenant.project_id, session_id, lease_s)
        claimed += [(tenant, lease) for lease in leases]
    return claimed
