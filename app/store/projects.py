"""Organizations and projects as rows."""

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import NotFound
from app.domain.keys import Organization, Project
from app.store.schema.projects import OrganizationTable, ProjectTable
from app.store.times import unix


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
        await self._session.execute(
            insert(ProjectTable).values(
                id=project.id, organization_id=project.organization_id, name=project.name
            )
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
                ProjectTable.organization_id == organization_id, ProjectTable.name == name
            )
        )
        return None if row is None else _to_project(row)


def _to_organization(row: OrganizationTable) -> Organization:
    return Organization(id=row.id, slug=row.slug, title=row.title, created_at=unix(row.created_at))


def _to_project(row: ProjectTable) -> Project:
    return Project(
        id=row.id,
        organization_id=row.organization_id,
        name=row.name,
        created_at=unix(row.created_at),
    )
