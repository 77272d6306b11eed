"""Use cases of an organization's projects: creation, renaming, archiving.

An archived project keeps every row. Its keys are refused at once, its running work ends, and no new
work begins.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from app.accounts.accounts import (
    ApiKeyRow,
    KeyKind,
    KeyTerms,
    Organization,
    OwnedKey,
    Project,
    ServiceAccount,
    ServiceAccountRole,
    named_scopes,
)
from app.accounts.key_service import KeyService, MintedKey, expiry
from app.accounts.usage import Quotas, check_quota
from app.database import Database, UnitOfWork
from app.evals.service import EvalRunService
from app.jobs.service import JobService
from app.kit.callers import COMMAND_LINE, AdminPrincipal, Scope, Tenant, act_as
from app.kit.errors import WrongState
from app.kit.ids import OrganizationId, ProjectId, new_id

log = structlog.get_logger()


class _Administration:
    def __init__(self, database: Database, principal: AdminPrincipal) -> None:
        self._database = database
        self._principal = principal
        self._organization_id = principal.organization_id

    def _unit(self) -> UnitOfWork:
        return self._database.organization(self._organization_id)

    def _note(self, what: str, **about: str) -> None:
        log.info(what, **about, by_key=self._principal.key_id)


class ProjectWork(Protocol):
    """Running work of a project, which archiving ends."""

    def jobs(self) -> JobService: ...

    def eval_runs(self) -> EvalRunService: ...


class ProjectWorkFactory(Protocol):
    def __call__(self, tenant: Tenant) -> ProjectWork: ...


@dataclass(frozen=True, slots=True)
class _OpenWork:
    jobs: list[str]
    runs: list[tuple[str, str]]


class ProjectService(_Administration):
    def __init__(
        self,
        database: Database,
        principal: AdminPrincipal,
        *,
        work_of: ProjectWorkFactory,
        quotas: Quotas,
    ) -> None:
        super().__init__(database, principal)
        self._quotas = quotas
        self._work_of = work_of

    async def create(self, name: str) -> Project:
        project = Project(
            id=new_id("proj_"),
            organization_id=self._organization_id,
            name=name,
            created_at=int(time.time()),
        )
        async with self._unit() as unit:
            used = await unit.projects.count_active(self._organization_id)
            check_quota("projects", used=used, adding=1, limit=self._quotas.projects)
            await unit.projects.insert_project(project)
            made = await unit.projects.get(self._organization_id, project.id)
        self._note("project created", project_id=project.id)
        return made

    async def get(self, project_id: str) -> Project:
        async with self._unit() as unit:
            return await unit.projects.get(self._organization_id, project_id)

    async def page(
        self, *, archived: bool, after: str | None, limit: int
    ) -> tuple[list[Project], bool]:
        async with self._unit() as unit:
            return await unit.projects.page(
                self._organization_id, archived=archived, after=after, limit=limit
            )

    async def rename(self, project_id: str, name: str | None) -> Project:
        async with self._unit() as unit:
            project = await hold_active(unit, self._organization_id, project_id)
            if name is None or name == project.name:
                return project
            await unit.projects.rename(project_id, name)
            return await unit.projects.get(self._organization_id, project_id)

    async def archive(self, project_id: str) -> Project:
        organization_id = self._organization_id
        async with self._database.project_of(organization_id, ProjectId(project_id)) as unit:
            # Work that had begun is visible now; later work is refused.
            project = await unit.projects.seize(organization_id, project_id)
            if project.archived_at is None:
                await unit.projects.mark_archived(project_id)
                await unit.keys.mark_project_archived(organization_id, project_id)
                project = await unit.projects.get(organization_id, project_id)
                self._note("project archived", project_id=project_id)
            await unit.exports.cancel_all()
            left = _OpenWork(await unit.jobs.open_ids(), await unit.eval_runs.open_ids())
        await self._end(project_id, left)
        return project

    async def _end(self, project_id: str, left: _OpenWork) -> None:
        work = self._work_of(
            Tenant(
                organization_id=self._organization_id,
                project_id=ProjectId(project_id),
                organization_slug="",
                key_id=self._principal.key_id,
            )
        )
        for job_id in left.jobs:
            try:
                await work.jobs().cancel(job_id)
            except WrongState:  # it ended meanwhile
                log.info("a job had ended before it was cancelled", job_id=job_id)
        for eval_id, run_id in left.runs:
            try:
                await work.eval_runs().cancel(eval_id, run_id)
            except WrongState:
                log.info("a run had ended before it was cancelled", run_id=run_id)


async def hold_active(unit: UnitOfWork, organization_id: str, project_id: str) -> Project:
    """Returns an active project, locked until the unit ends. Raises `NotFound`, or `WrongState`."""
    project = await unit.projects.hold(organization_id, project_id)
    if project.archived_at is not None:
        raise WrongState(
            f"Project {project_id} is archived; it cannot be used or changed.",
            code="project_archived",
        )
    return project


class ServiceAccountService(_Administration):
    def __init__(
        self, database: Database, keys: KeyService, principal: AdminPrincipal, *, project_id: str
    ) -> None:
        super().__init__(database, principal)
        self._keys = keys
        self._project_id = ProjectId(project_id)

    async def create(
        self, name: str, terms: KeyTerms | None
    ) -> tuple[ServiceAccount, MintedKey | None]:
        """Creates an account with a key, whose value no later call returns; or no role and key."""
        account = ServiceAccount(
            id=new_id("svc_acct_"),
            project_id=self._project_id,
            name=name,
            role=ServiceAccountRole.NONE if terms is None else ServiceAccountRole.MEMBER,
            created_at=int(time.time()),
        )
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.service_accounts.insert(account, organization_id=self._organization_id)
            made = await unit.service_accounts.get(self._project_id, account.id)
            key = None if terms is None else await self._insert_key(unit, made, name, terms)
        self._note("service account created", account_id=account.id, project_id=self._project_id)
        return made, key

    async def create_key(self, account_id: str, terms: KeyTerms, *, name: str | None) -> MintedKey:
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            account = await unit.service_accounts.get(self._project_id, account_id, lock=True)
            if account.role is ServiceAccountRole.NONE:
                raise WrongState(f"{account_id} has no role in the project; give it one first.")
            key = await self._insert_key(unit, account, name or account.name, terms)
        self._note("key created", account_id=account_id, project_id=self._project_id)
        return key

    async def replace_key(self, key_id: str, *, keep_s: int) -> MintedKey:
        """Makes a key in place of one that ends in `keep_s` seconds. Raises `WrongState`."""
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            old = await unit.keys.get(self._organization_id, self._project_id, key_id)
            if old.service_account_id is None:
                raise WrongState(
                    f"Key {key_id} belongs to no service account: create another, and delete it."
                )
            account = await unit.service_accounts.get(
                self._project_id, old.service_account_id, lock=True
            )
            key = await self._insert_key(unit, account, old.name, KeyTerms(scopes=old.scopes))
            await unit.keys.end(old, in_s=keep_s)
        self._note("key replaced", account_id=account.id, project_id=self._project_id)
        return key

    async def get(self, account_id: str) -> ServiceAccount:
        async with self._unit() as unit:
            await unit.projects.get(self._organization_id, self._project_id)
            return await unit.service_accounts.get(self._project_id, account_id)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[ServiceAccount], bool]:
        async with self._unit() as unit:
            await unit.projects.get(self._organization_id, self._project_id)
            return await unit.service_accounts.page(self._project_id, after=after, limit=limit)

    async def change(
        self, account_id: str, *, name: str | None, role: ServiceAccountRole | None
    ) -> ServiceAccount:
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.service_accounts.get(self._project_id, account_id, lock=True)
            await unit.service_accounts.change(account_id, name=name, role=role)
            return await unit.service_accounts.get(self._project_id, account_id)

    async def delete(self, account_id: str) -> None:
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.service_accounts.get(self._project_id, account_id, lock=True)
            await unit.service_accounts.delete(account_id)
            await unit.keys.revoke_of_account(self._project_id, account_id)
        self._note("service account deleted", account_id=account_id, project_id=self._project_id)

    async def _insert_key(
        self, unit: UnitOfWork, account: ServiceAccount, name: str, terms: KeyTerms
    ) -> MintedKey:
        minted = self._keys.mint(
            KeyKind.PROJECT,
            organization_id=self._organization_id,
            project_id=self._project_id,
            name=name,
        )
        row: ApiKeyRow = replace(
            minted.row,
            service_account_id=account.id,
            expires_at=expiry(terms.lifetime_s),
            scopes=terms.scopes,
        )
        await unit.keys.insert(row)
        stored = await unit.keys.get(self._organization_id, self._project_id, row.id)
        return replace(minted, row=stored)


class ProjectKeyService(_Administration):
    def __init__(self, database: Database, principal: AdminPrincipal, *, project_id: str) -> None:
        super().__init__(database, principal)
        self._project_id = ProjectId(project_id)

    async def get(self, key_id: str) -> OwnedKey:
        async with self._unit() as unit:
            await unit.projects.get(self._organization_id, self._project_id)
            return await self._one(unit, key_id)

    async def page(
        self, *, after: str | None, limit: int, usable: bool | None
    ) -> tuple[list[OwnedKey], bool]:
        """`usable` selects all keys or none, because a project is archived as a whole."""
        async with self._unit() as unit:
            project = await unit.projects.get(self._organization_id, self._project_id)
            rows, more = await unit.keys.page(
                self._organization_id, self._project_id, after=after, limit=limit
            )
            if usable is not None and usable is not (project.archived_at is None):
                return [], False
            return await self._owned(unit, rows), more

    async def change(
        self, key_id: str, *, lifetime_s: int | None, scopes: Sequence[Scope] | None
    ) -> OwnedKey:
        """Changes what is not `None`; no scopes are all of them."""
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            key = await unit.keys.get(self._organization_id, self._project_id, key_id)
            if key.expires_at is not None and key.expires_at <= time.time():
                raise WrongState(f"Key {key_id} has expired; make another.", code="key_expired")
            if lifetime_s is not None:
                await unit.keys.set_expiry(key_id, int(time.time()) + lifetime_s)
            if scopes is not None:
                await unit.keys.set_scopes(key_id, named_scopes(scopes))
            changed = await self._one(unit, key_id)
        self._note("key changed", key=key_id, project_id=self._project_id)
        return changed

    async def delete(self, key_id: str) -> None:
        async with self._unit() as unit:
            await hold_active(unit, self._organization_id, self._project_id)
            await unit.keys.get(self._organization_id, self._project_id, key_id)
            await unit.keys.revoke(key_id)
        self._note("key deleted", key=key_id, project_id=self._project_id)

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


@dataclass(frozen=True, slots=True)
class ProvisionedKeys:
    """The provisioned rows with the values of the keys, which cannot be shown again."""

    organization_id: OrganizationId
    project_id: ProjectId
    api_key: str
    admin_key: str


class ProvisioningService:
    def __init__(self, database: Database, keys: KeyService) -> None:
        self._database = database
        self._keys = keys

    async def provision(self, *, slug: str, title: str, project_name: str) -> ProvisionedKeys:
        act_as(COMMAND_LINE)
        organization_id = await self._organization(slug, title)
        async with self._database.organization(organization_id) as unit:
            project = await unit.projects.by_name(organization_id, project_name)
            if project is None:
                project = Project(
                    id=new_id("proj_"),
                    organization_id=organization_id,
                    name=project_name,
                    created_at=int(time.time()),
                )
                await unit.projects.insert_project(project)
            project_id = ProjectId(project.id)
            api_key = self._keys.mint(
                KeyKind.PROJECT,
                organization_id=organization_id,
                project_id=project_id,
                name="development",
            )
            admin_key = self._keys.mint(
                KeyKind.ADMIN, organization_id=organization_id, project_id=None, name="development"
            )
            await unit.keys.insert(api_key.row)
            await unit.keys.insert(admin_key.row)
        return ProvisionedKeys(organization_id, project_id, api_key.value, admin_key.value)

    async def _organization(self, slug: str, title: str) -> OrganizationId:
        async with self._database.organization_slug(slug) as unit:
            organization = await unit.projects.organization_by_slug(slug)
        if organization is not None:
            return OrganizationId(organization.id)
        organization_id = OrganizationId(new_id("org-"))
        async with self._database.organization(organization_id) as unit:
            await unit.projects.insert_organization(
                Organization(
                    id=organization_id, slug=slug, title=title, created_at=int(time.time())
                )
            )
        return organization_id
