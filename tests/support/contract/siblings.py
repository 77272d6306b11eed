"""A second project of the first organization."""

import asyncio
from dataclasses import dataclass

from app.accounts.accounts import KeyKind, Project
from app.accounts.key_service import KeyService
from app.database import Database as Store
from app.kit.ids import ProjectId, new_id
from app.settings import Settings
from app.wiring import provisioning_service


@dataclass(frozen=True, slots=True)
class SiblingProject:
    """Another project of the first organization, and the organization's admin key."""

    project_id: str
    key: str
    admin_key: str


def add_sibling(settings: Settings) -> SiblingProject:
    """Adds the project and its key."""
    return asyncio.run(_insert(settings))


async def _insert(settings: Settings) -> SiblingProject:
    store = Store(settings.database_url, pool_size=1)
    try:
        provisioning = provisioning_service(settings, store)
        first = await provisioning.provision(slug="first", title="First", project_name="p")
        keys = KeyService(store, secret_key=settings.key_hmac)
        principal = await keys.authenticate(first.admin_key)
        organization_id, project_id = principal.organization_id, ProjectId(new_id("proj_"))
        minted = keys.mint(
            KeyKind.PROJECT, organization_id=organization_id, project_id=project_id, name="sibling"
        )
        async with store.organization(organization_id) as unit:
            await unit.projects.insert_project(
                Project(id=project_id, organization_id=organization_id, name="q", created_at=0)
            )
            await unit.keys.insert(minted.row)
    finally:
        await store.dispose()
    return SiblingProject(project_id, minted.value, first.admin_key)
