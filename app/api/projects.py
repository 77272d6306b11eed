"""Routes of an organization's projects. For its admin keys only."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.schemas.common import Page, object_page
from app.api.schemas.projects import CreateProject, ProjectObject, UpdateProject
from app.api.support.dependencies import Administered, After, Limit
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/organization/projects", tags=["Projects"])


@router.get("", operation_id="list-projects", responses=responses())
async def list_projects(
    services: Administered,
    after: After = None,
    limit: Limit = 20,
    include_archived: Annotated[bool, Query()] = False,
) -> Page[ProjectObject]:
    """Lists the projects of the organization. Needs an admin key, as do all operations here."""
    rows, has_more = await services.projects().page(
        archived=include_archived, after=after, limit=limit
    )
    return object_page([ProjectObject.of(row) for row in rows], has_more=has_more)


@router.post("", operation_id="create-project", responses=responses())
async def create_project(body: CreateProject, services: Administered) -> ProjectObject:
    """Creates a project."""
    return ProjectObject.of(await services.projects().create(body.name))


@router.get("/{project_id}", operation_id="retrieve-project", responses=responses(404))
async def get_project(project_id: str, services: Administered) -> ProjectObject:
    """Returns a project."""
    return ProjectObject.of(await services.projects().get(project_id))


@router.post("/{project_id}", operation_id="modify-project", responses=responses(404))
async def update_project(
    project_id: str, body: UpdateProject, services: Administered
) -> ProjectObject:
    """Renames a project."""
    return ProjectObject.of(await services.projects().rename(project_id, body.name))


@router.post("/{project_id}/archive", operation_id="archive-project", responses=responses(404))
async def archive_project(project_id: str, services: Administered) -> ProjectObject:
    """Archives a project: its keys stop working. This cannot be undone."""
    return ProjectObject.of(await services.projects().archive(project_id))
