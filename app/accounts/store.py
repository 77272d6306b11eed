"""Organizations and projects as rows."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.accounts import (
    NO_PROJECT,
    PROJECT_ARCHIVED,
    Organization,
    Project,
    ServiceAccount,
    ServiceAccountRole,
)
from app.accounts.audit import AuditEntry, AuditFilter
from app.accounts.tables import ApiKeyTable as Key
from app.accounts.tables import AuditLogTable as TableLogs
from app.accounts.tables import OrganizationTable, ProjectTable
from app.accounts.tables import ServiceAccountTable as Table
from app.kit.errors import AuthenticationFailed, InvalidRequest, NotFound
from app.kit.faults import unknown_cursor
from app.kit.sql import Keyset, SessionRows, cut, from_row

_OLDEST_FIRST: Final = Keyset((ProjectTable.created_at, ProjectTable.id))
_UNIQUE_NAME: Final = "uq_projects_active_name"


class ProjectStore(SessionRows):
    async def insert_organization(self, organization: Organization) -> None:
        await self._session.execute(
            insert(OrganizationTable).values(
                id=organization.id, slug=organization.slug, title=organization.title
            )
        )

    async def insert_project(self, project: Project) -> None:
        """Raises `InvalidRequest` for a name in use; the transaction is then unusable."""
        try:
            await self._session.execute(
                insert(ProjectTable).values(
                    id=project.id, organization_id=project.organization_id, name=project.name
                )
            )
        except IntegrityError as error:
            raise _taken(project.name, error) from error

    async def count_active(self, organization_id: str) -> int:
        """Counts active projects; no other transaction counts until this one ends."""
        number = func.hashtextextended(f"projects of {organization_id}", 0)
        await self._session.execute(select(func.pg_advisory_xact_lock(number)))
        active = select(func.count()).where(
            ProjectTable.organization_id == organization_id, ProjectTable.archived_at.is_(None)
        )
        return int(await self._session.scalar(active) or 0)

    async def get(self, organization_id: str, project_id: str) -> Project:
        return await self._get(organization_id, project_id)

    async def hold(self, organization_id: str, project_id: str) -> Project:
        """Reads with a shared lock, which prevents archiving until the transaction ends."""
        return await self._get(organization_id, project_id, share=True)

    async def seize(self, organization_id: str, project_id: str) -> Project:
        """Reads with an exclusive lock: waits for transactions that hold it or add rows to it."""
        return await self._get(organization_id, project_id, share=False)

    async def page(
        self, organization_id: str, *, archived: bool, after: str | None, limit: int
    ) -> tuple[list[Project], bool]:
        query = select(ProjectTable).where(ProjectTable.organization_id == organization_id)
        if not archived:
            query = query.where(ProjectTable.archived_at.is_(None))
        page, more = await _OLDEST_FIRST.page(
            self._session,
            query,
            after=after,
            cursor=[ProjectTable.organization_id == organization_id, ProjectTable.id == after],
            limit=limit,
        )
        return [from_row(Project, row) for row in page], more

    async def rename(self, project_id: str, name: str) -> None:
        try:
            await self._session.execute(
                update(ProjectTable).where(ProjectTable.id == project_id).values(name=name)
            )
        except IntegrityError as error:
            raise _taken(name, error) from error

    async def mark_archived(self, project_id: str) -> None:
        await self._session.execute(
            update(ProjectTable).where(ProjectTable.id == project_id).values(archived_at=func.now())
        )

    async def get_organization(self, organization_id: str) -> Organization:
        row = await self._session.scalar(
            select(OrganizationTable).where(OrganizationTable.id == organization_id)
        )
        if row is None:
            raise NotFound(f"No organization {organization_id}.")
        return from_row(Organization, row)

    async def organization_by_slug(self, slug: str) -> Organization | None:
        row = await self._session.scalar(
            select(OrganizationTable).where(OrganizationTable.slug == slug)
        )
        return None if row is None else from_row(Organization, row)

    async def by_name(self, organization_id: str, name: str) -> Project | None:
        row = await self._session.scalar(
            select(ProjectTable).where(
                ProjectTable.organization_id == organization_id,
                ProjectTable.name == name,
                ProjectTable.archived_at.is_(None),
            )
        )
        return None if row is None else from_row(Project, row)

    async def _get(
        self, organization_id: str, project_id: str, *, share: bool | None = None
    ) -> Project:
        query = (
            select(ProjectTable)
            .where(ProjectTable.organization_id == organization_id, ProjectTable.id == project_id)
            .execution_options(populate_existing=True)
        )
        if share is not None:
            query = query.with_for_update(read=share, key_share=share)
        row = await self._session.scalar(query)
        if row is None:
            raise NotFound(f"No such project: {project_id}")
        return from_row(Project, row)


async def refuse_archived(session: AsyncSession, project_id: str) -> None:
    """Archiving waits for this lock, then ends the work begun under it; the key may have been read
    just before. Raises `AuthenticationFailed`, as for the key itself.
    """
    archived_at = await session.scalar(
        select(ProjectTable.archived_at)
        .where(ProjectTable.id == project_id)
        .with_for_update(read=True, key_share=True)
    )
    if archived_at is not None:
        raise AuthenticationFailed(PROJECT_ARCHIVED, code=NO_PROJECT)


def _taken(name: str, error: IntegrityError) -> Exception:
    if _UNIQUE_NAME not in str(error.orig):
        return error
    return InvalidRequest(
        f"A project named '{name}' exists already.", param="name", code="project_name_taken"
    )


class ServiceAccountStore(SessionRows):
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
        query = select(Table).where(Table.project_id == project_id, Table.deleted_at.is_(None))
        page, more = await Keyset((Table.created_at, Table.id)).page(
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
        sent = {"name": name, "role": None if role is None else role.value}
        if values := {column: value for column, value in sent.items() if value is not None}:
            await self._session.execute(update(Table).where(Table.id == account_id).values(values))

    async def delete(self, account_id: str) -> None:
        await self._session.execute(
            update(Table).where(Table.id == account_id).values(deleted_at=func.now())
        )


def _to_account(row: Table) -> ServiceAccount:
    return from_row(ServiceAccount, row, role=ServiceAccountRole(row.role))


class AuditLogStore(SessionRows):
    async def page(
        self,
        organization_id: str,
        wanted: AuditFilter,
        *,
        after: str | None = None,
        before: str | None = None,
        limit: int,
    ) -> tuple[list[AuditEntry], bool]:
        """Returns a page, newest first, and whether more follow. Raises `InvalidRequest`."""
        query = _matching(organization_id, wanted)
        if after is not None:
            query = query.where(TableLogs.seq < await self._number(organization_id, after, "after"))
        if before is not None:
            query = query.where(
                TableLogs.seq > await self._number(organization_id, before, "before")
            )
        upwards = before is not None and after is None
        query = query.order_by(TableLogs.seq if upwards else TableLogs.seq.desc())
        rows, more = cut((await self._session.execute(query.limit(limit + 1))).all(), limit)
        return [
            from_row(AuditEntry, entry, service_account_id=account_id, project_name=project_name)
            for entry, project_name, account_id in (reversed(rows) if upwards else rows)
        ], more

    async def _number(self, organization_id: str, entry_id: str, param: str) -> int:
        number = await self._session.scalar(
            select(TableLogs.seq).where(
                TableLogs.organization_id == organization_id, TableLogs.id == entry_id
            )
        )
        if number is None:
            raise unknown_cursor(entry_id, param)
        return number


def _matching(organization_id: str, wanted: AuditFilter) -> Select[*tuple[Any, ...]]:
    query = (
        select(TableLogs, ProjectTable.name, Key.service_account_id)
        .outerjoin(ProjectTable, ProjectTable.id == TableLogs.project_id)
        .outerjoin(Key, Key.id == TableLogs.actor_id)
        .where(TableLogs.organization_id == organization_id)
    )
    moment = TableLogs.effective_at
    if wanted.after_s is not None:
        # Entries show whole seconds, so these are what is compared.
        query = query.where(moment >= func.to_timestamp(int(wanted.after_s) + 1))
    if wanted.from_s is not None:
        query = query.where(moment >= func.to_timestamp(wanted.from_s))
    if wanted.before_s is not None:
        query = query.where(moment < func.to_timestamp(wanted.before_s))
    if wanted.until_s is not None:
        query = query.where(moment < func.to_timestamp(int(wanted.until_s) + 1))
    if wanted.event_types:
        query = query.where(TableLogs.type.in_(wanted.event_types))
    if wanted.actor_ids:
        query = query.where(
            TableLogs.actor_id.in_(wanted.actor_ids) | Key.service_account_id.in_(wanted.actor_ids)
        )
    if wanted.project_ids:
        query = query.where(TableLogs.project_id.in_(wanted.project_ids))
    if wanted.resource_ids:
        query = query.where(TableLogs.resource_id.in_(wanted.resource_ids))
    return query
