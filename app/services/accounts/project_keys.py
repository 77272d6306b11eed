"""Use cases of a project's API keys for its organization's administration."""

import time

import structlog

from app.domain.accounts.keys import ApiKeyRow, OwnedKey
from app.domain.accounts.tenants import AdminPrincipal
from app.domain.errors import WrongState
from app.domain.ids import ProjectId
from app.services.accounts.projects import hold_active
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger()


class ProjectKeyService:
    def __init__(self, database: Database, principal: AdminPrincipal, *, project_id: str) -> None:
        self._database = database
        self._principal = principal
        self._organization_id = principal.organization_id
        self._project_id = ProjectId(project_id)

    async def get(self, key_id: str) -> OwnedKey:
        async with self._database.organization(self._organization_id) as unit:
            await unit.projects.get(self._organization_id, self._project_id)
            return await self._one(unit, key_id)

    async def page(
        self, *, after: str | None, limit: int, usable: bool | None
    ) -> tuple[list[OwnedKey], bool]:
        """Returns a page, oldest first. `usable` selects keys whose owner may, or may not, use the
        project now: all or none of them, because a project is archived as a whole.
        """
        async with self._database.organization(self._organization_id) as unit:
            project = await unit.projects.get(self._organization_id, self._project_id)
            rows, more = await unit.keys.page(
                self._organization_id, self._project_id, after=after, limit=limit
            )
            if usable is not None and usable is not (project.archived_at is None):
                return [], False
            return await self._owned(unit, rows), more

    async def change(self, key_id: str, *, lifetime_s: int | None) -> OwnedKey:
        """Sets the time from now until the key expires; `None` leaves it unchanged. Raises
        `WrongState` for an expired key.
        """
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            key = await unit.keys.get(self._organization_id, self._project_id, key_id)
            if key.expires_at is not None and key.expires_at <= time.time():
                raise WrongState(f"Key {key_id} has expired; make another.", code="key_expired")
            if lifetime_s is not None:
                await unit.keys.set_expiry(key_id, int(time.time()) + lifetime_s)
            changed = await self._one(unit, key_id)
        self._note("key changed", key_id)
        return changed

    async def delete(self, key_id: str) -> None:
        """Revokes one key; the other keys of its account are not touched."""
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.keys.get(self._organization_id, self._project_id, key_id)
            await unit.keys.revoke(key_id)
        self._note("key deleted", key_id)

    async def _one(self, unit: UnitOfWork, key_id: str) -> OwnedKey:
        row = await unit.keys.get(self._organization_id, self._project_id, key_id)
        [owned] = await self._owned(unit, [row])
        return owned

    async def _owned(self, unit: UnitOfWork, rows: list[ApiKeyRow]) -> list[OwnedKey]:
        organization = await unit.projects.get_organization(self._organization_id)
        ids = {row.service_account_id for row in rows if row.service_account_id is not None}
        accounts = await unit.service_accounts.named(self._project_id, ids) if ids else {}
        return [
            OwnedKey(row, organization, accounts.get(row.service_account_id or "")) for row in rows
        ]

    def _note(self, what: str, key_id: str) -> None:
        log.info(what, key=key_id, project_id=self._project_id, by_key=self._principal.key_id)
