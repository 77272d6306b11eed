"""Inserts organizations and projects for tests that need tenants without the API."""

from dataclasses import replace

from app.accounts.accounts import Organization, Project
from app.database import Database
from app.kit.callers import Tenant
from app.kit.ids import OrganizationId, ProjectId, new_id


async def insert_tenant(database: Database, slug: str) -> Tenant:
    """Inserts one organization with one project and returns the tenant of a key in it."""
    organization_id, project_id = OrganizationId(new_id("org-")), ProjectId(new_id("proj_"))
    async with database.organization(organization_id) as unit:
        await unit.projects.insert_organization(
            Organization(id=organization_id, slug=slug, title=slug, created_at=0)
        )
        await unit.projects.insert_project(
            Project(id=project_id, organization_id=organization_id, name="p", created_at=0)
        )
    return Tenant(organization_id, project_id, slug, "key_x")


async def insert_project(database: Database, of: Tenant, name: str) -> Tenant:
    """Inserts a further project of the organization and returns the tenant of a key in it."""
    project_id = ProjectId(new_id("proj_"))
    async with database.organization(of.organization_id) as unit:
        await unit.projects.insert_project(
            Project(id=project_id, organization_id=of.organization_id, name=name, created_at=0)
        )
    return replace(of, project_id=project_id)
