"""Use cases of an organization's admin keys. One valid admin key always remains."""

import time
from dataclasses import replace

import structlog

from app.domain.accounts.keys import ApiKeyRow, OwnedKey
from app.domain.accounts.tenants import AdminPrincipal, KeyKind
from app.domain.errors import WrongState
from app.services.accounts.keys import KeyService
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger()


class AdminKeyService:
    def __init__(self, database: Database, keys: KeyService, principal: AdminPrincipal) -> None:
        self._database = database
        self._keys = keys
        self._principal = principal
        self._organization_id = principal.organization_id

    async def create(self, name: str, *, lifetime_s: int | None) -> tuple[OwnedKey, str]:
        """Creates a key. Its value is returned here and never again."""
        minted = self._keys.mint(
            KeyKind.ADMIN, organization_id=self._organization_id, project_id=None, name=name
        )
        row = replace(minted.row, expires_at=expiry(lifetime_s))
        async with self._database.organization(self._organization_id) as unit:
            await unit.keys.insert(row)
            [made] = await self._owned(
                unit, [await unit.keys.get(self._organization_id, None, row.id)]
            )
        log.info("admin key created", key=row.id, by_key=self._principal.key_id)
        return made, minted.value

    async def replace(self, key_id: str, *, keep_s: int) -> tuple[OwnedKey, str]:
        """Creates a key with the name and no end in place of one that ends in `keep_s` seconds;
        with 0 at once.
        """
        async with self._database.organization(self._organization_id) as unit:
            await unit.keys.lock_admin_keys(self._organization_id)
            old = await unit.keys.get(self._organization_id, None, key_id)
            minted = self._keys.mint(
                KeyKind.ADMIN, organization_id=self._organization_id, project_id=None, name=old.name
            )
            await unit.keys.insert(minted.row)
            stored = await unit.keys.get(self._organization_id, None, minted.row.id)
            [made] = await self._owned(unit, [stored])
            await unit.keys.end(old, in_s=keep_s)
        log.info("admin key replaced", key=key_id, by_key=self._principal.key_id)
        return made, minted.value

    async def get(self, key_id: str) -> OwnedKey:
        async with self._database.organization(self._organization_id) as unit:
            row = await unit.keys.get(self._organization_id, None, key_id)
            [found] = await self._owned(unit, [row])
        return found

    async def page(
        self, *, after: str | None, limit: int, descending: bool
    ) -> tuple[list[OwnedKey], bool]:
        async with self._database.organization(self._organization_id) as unit:
            rows, more = await unit.keys.page(
                self._organization_id, None, after=after, limit=limit, descending=descending
            )
            return await self._owned(unit, rows), more

    async def delete(self, key_id: str) -> None:
        """Deletes a key. Raises `NotFound`, or `WrongState` for the last valid one."""
        async with self._database.organization(self._organization_id) as unit:
            living = await unit.keys.lock_admin_keys(self._organization_id)
            await unit.keys.get(self._organization_id, None, key_id)
            if set(living) <= {key_id}:
                raise WrongState(
                    "The organization's last admin key cannot be deleted; create another first.",
                    param="key_id",
                    code="last_admin_key",
                )
            await unit.keys.revoke(key_id)
        log.info("admin key deleted", key=key_id, by_key=self._principal.key_id)

    async def _owned(self, unit: UnitOfWork, rows: list[ApiKeyRow]) -> list[OwnedKey]:
        organization = await unit.projects.get_organization(self._organization_id)
        return [OwnedKey(row, organization) for row in rows]


def expiry(lifetime_s: int | None) -> int | None:
    """Returns the Unix seconds at which a key created now expires."""
    return None if lifetime_s is None else int(time.time()) + lifetime_s
