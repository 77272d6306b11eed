"""Organizations and projects as rows."""

from typing import Final

from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.keys import NO_PROJECT, PROJECT_ARCHIVED, Organization, Project
from app.domain.errors import AuthenticationFailed, InvalidRequest, NotFound
from app.store.paging import Keyset
from app.store.schema.projects import OrganizationTable, ProjectTable
from app.store.times import unix, unix_or_none

_OLDEST_FIRST: Final = Keyset((ProjectTable.created_at, ProjectTable.id))
_UNIQUE_NAME: Final = "uq_projects_active_name"


class ProjectStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def insert_organization(self, organization: Organization) -> None:
        await self._session.execute(
            insert(OrganizationTable).values(
                id=organization.id, slug=organization.slug, title=organization.title
            )
        )

    async def insert_project(self, project: Project) -> None:
        """Inserts a project. Raises `InvalidRequest` when an active project has the name; the
        transaction is then unusable.
        """
        try:
            await self._session.execute(
                insert(ProjectTable).values(
                    id=project.id, organization_id=project.organization_id, name=project.name
                )
            )
        except IntegrityError as error:
            raise _taken(project.name, error) from error

    async def count_active(self, organization_id: str) -> int:
        """Returns the number of projects that are not archived. Other transactions cannot count
        until this one ends.
        """
        number = func.hashtextextended(f"projects of {organization_id}", 0)
        await self._session.execute(select(func.pg_advisory_xact_lock(number)))
        active = select(func.count()).where(
            ProjectTable.organization_id == organization_id, ProjectTable.archived_at.is_(None)
        )
        return int(await self._session.scalar(active) or 0)

    async def get(self, organization_id: str, project_id: str) -> Project:
        """Raises `NotFound`."""
        return await self._get(organization_id, project_id)

    async def hold(self, organization_id: str, project_id: str) -> Project:
        """Reads like `get`, with a shared lock that prevents archiving until the transaction
        ends.
        """
        return await self._get(organization_id, project_id, share=True)

    async def seize(self, organization_id: str, project_id: str) -> Project:
        """Returns a project as `get` does, with an exclusive lock: waits for every transaction that
        has the project locked or adds rows to it.
        """
        return await self._get(organization_id, project_id, share=False)

    async def page(
        self, organization_id: str, *, archived: bool, after: str | None, limit: int
    ) -> tuple[list[Project], bool]:
        """Returns a page of projects, oldest first, with or without archived ones."""
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
        return [_to_project(row) for row in page], more

    async def rename(self, project_id: str, name: str) -> None:
        """Renames a project. Raises the same errors as `insert_project`."""
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
        return _to_organization(row)

    async def organization_by_slug(self, slug: str) -> Organization | None:
        row = await self._session.scalar(
            select(OrganizationTable).where(OrganizationTable.slug == slug)
        )
        return None if row is None else _to_organization(row)

    async def by_name(self, organization_id: str, name: str) -> Project | None:
        row = await self._session.scalar(
            select(ProjectTable).where(
                ProjectTable.organization_id == organization_id,
                ProjectTable.name == name,
                ProjectTable.archived_at.is_(None),
            )
        )
        return None if row is None else _to_project(row)

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
        return _to_project(row)


async def refuse_archived(session: AsyncSession, project_id: str) -> None:
    """Locks the project against archiving, because its key may have been read just before.

    Archiving waits for such locks, and then ends the work that was begun under them. Raises
    `AuthenticationFailed`, as for the key itself.
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


def _to_organization(row: OrganizationTable) -> Organization:
    return Organization(id=row.id, slug=row.slug, title=row.title, created_at=unix(row.created_at))


def _to_project(row: ProjectTable) -> Project:
    return Project(
        id=row.id,
        organization_id=row.organization_id,
        name=row.name,
        created_at=unix(row.created_at),
        archived_at=unix_or_none(row.archived_at),
    )
