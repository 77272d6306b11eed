"""Provisions an organization, a project and their keys; safe to repeat.

Existing rows are found by slug and name; new keys are created on every call, because a stored key
cannot be read back.
"""

import time
from dataclasses import dataclass

from app.current_actor import act_as
from app.domain.accounts.actors import COMMAND_LINE
from app.domain.accounts.keys import Organization, Project
from app.domain.accounts.tenants import KeyKind
from app.domain.ids import OrganizationId, ProjectId, new_id
from app.services.accounts.keys import KeyService
from app.store.database import Database


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
