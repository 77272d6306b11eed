"""Use cases of a project's service accounts, with which its API keys are created.

An account may have several valid keys, so that one can replace another.
"""

import time
from dataclasses import replace

import structlog

from app.domain.accounts.keys import ApiKeyRow, ServiceAccount, ServiceAccountRole
from app.domain.accounts.tenants import AdminPrincipal, KeyKind
from app.domain.errors import InvalidRequest, WrongState
from app.domain.ids import ProjectId, new_id
from app.services.accounts.admin_keys import expiry
from app.services.accounts.keys import KeyService, MintedKey
from app.services.accounts.projects import hold_active
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger()


class ServiceAccountService:
    def __init__(
        self,
        database: Database,
        keys: KeyService,
        principal: AdminPrincipal,
        *,
        project_id: str,
    ) -> None:
        self._database = database
        self._keys = keys
        self._principal = principal
        self._organization_id = principal.organization_id
        self._project_id = ProjectId(project_id)

    async def create(
        self, name: str, *, with_key: bool, lifetime_s: int | None
    ) -> tuple[ServiceAccount, MintedKey | None]:
        """Creates a service account with a key, whose value is returned here and never again; or
        without a role and key.
        """
        if lifetime_s is not None and not with_key:
            raise InvalidRequest(
                "'expires_in_seconds' needs a key: the call creates none.",
                param="expires_in_seconds",
            )
        account = ServiceAccount(
            id=new_id("svc_acct_"),
            project_id=self._project_id,
            name=name,
            role=ServiceAccountRole.MEMBER if with_key else ServiceAccountRole.NONE,
            created_at=int(time.time()),
        )
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.service_accounts.insert(account, organization_id=self._organization_id)
            made = await unit.service_accounts.get(self._project_id, account.id)
            key = await self._insert_key(unit, made, name, lifetime_s) if with_key else None
        self._note("service account created", account.id)
        return made, key

    async def create_key(
        self, account_id: str, *, name: str | None, lifetime_s: int | None
    ) -> MintedKey:
        """Creates one more key. Raises `WrongState` for an account without a role."""
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            account = await unit.service_accounts.get(self._project_id, account_id, lock=True)
            if account.role is ServiceAccountRole.NONE:
                raise WrongState(f"{account_id} has no role in the project; give it one first.")
            key = await self._insert_key(unit, account, name or account.name, lifetime_s)
        self._note("key created", account_id)
        return key

    async def replace_key(self, key_id: str, *, keep_s: int) -> MintedKey:
        """Creates a key with the name, the account and no end in place of one that ends in
        `keep_s` seconds; with 0 at once. Raises `WrongState` for a key that belongs to no account.
        """
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            old = await unit.keys.get(self._organization_id, self._project_id, key_id)
            if old.service_account_id is None:
                raise WrongState(
                    f"Key {key_id} belongs to no service account: create another, and delete it."
                )
            account = await unit.service_accounts.get(
                self._project_id, old.service_account_id, lock=True
            )
            key = await self._insert_key(unit, account, old.name, None)
            await unit.keys.end(old, in_s=keep_s)
        self._note("key replaced", account.id)
        return key

    async def get(self, account_id: str) -> ServiceAccount:
        async with self._database.organization(self._organization_id) as unit:
            await unit.projects.get(self._organization_id, self._project_id)
            return await unit.service_accounts.get(self._project_id, account_id)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[ServiceAccount], bool]:
        async with self._database.organization(self._organization_id) as unit:
            await unit.projects.get(self._organization_id, self._project_id)
            return await unit.service_accounts.page(self._project_id, after=after, limit=limit)

    async def change(
        self, account_id: str, *, name: str | None, role: ServiceAccountRole | None
    ) -> ServiceAccount:
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.service_accounts.get(self._project_id, account_id, lock=True)
            await unit.service_accounts.change(account_id, name=name, role=role)
            return await unit.service_accounts.get(self._project_id, account_id)

    async def delete(self, account_id: str) -> None:
        """Deletes the account and all of its keys, which are refused from now on."""
        async with self._database.organization(self._organization_id) as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.service_accounts.get(self._project_id, account_id, lock=True)
            await unit.service_accounts.delete(account_id)
            await unit.keys.revoke_of_account(self._project_id, account_id)
        self._note("service account deleted", account_id)

    async def _insert_key(
        self, unit: UnitOfWork, account: ServiceAccount, name: str, lifetime_s: int | None
    ) -> MintedKey:
        minted = self._keys.mint(
            KeyKind.PROJECT,
            organization_id=self._organization_id,
            project_id=self._project_id,
            name=name,
        )
        row: ApiKeyRow = replace(
            minted.row, service_account_id=account.id, expires_at=expiry(lifetime_s)
        )
        await unit.keys.insert(row)
        stored = await unit.keys.get(self._organization_id, self._project_id, row.id)
        return replace(minted, row=stored)

    def _note(self, what: str, account_id: str) -> None:
        log.info(
            what,
            account_id=account_id,
            project_id=self._project_id,
            by_key=self._principal.key_id,
        )
