"""Routes of a project's API keys, for admin keys only. Keys are created with
or for service accounts.
"""

from typing import Literal

from fastapi import APIRouter

from app.api.schemas.common import Page, object_page
from app.api.schemas.project_keys import ProjectKeyDeleted, ProjectKeyObject, UpdateProjectKey
from app.api.support.dependencies import Administered, After, Limit
from app.api.support.errors import responses
from app.domain.errors import InvalidRequest

router = APIRouter(prefix="/v1/organization/projects/{project_id}/api_keys", tags=["Projects"])
_USABLE = {"active": True, "inactive": False, "any": None, None: None}


@router.get("", operation_id="list-project-api-keys", responses=responses(404))
async def list_keys(
    project_id: str,
    services: Administered,
    after: After = None,
    limit: Limit = 20,
    owner_project_access: Literal["active", "inactive", "any"] | None = None,
) -> Page[ProjectKeyObject]:
    """Lists the keys of a project."""
    rows, has_more = await services.project_keys(project_id).page(
        after=after, limit=limit, usable=_USABLE[owner_project_access]
    )
    return object_page([ProjectKeyObject.of(row) for row in rows], has_more=has_more)


@router.get("/{api_key_id}", operation_id="retrieve-project-api-key", responses=responses(404))
async def get_key(project_id: str, api_key_id: str, services: Administered) -> ProjectKeyObject:
    """Returns a key of a project, without its value."""
    return ProjectKeyObject.of(await services.project_keys(project_id).get(api_key_id))


@router.post("/{api_key_id}", operation_id="modify-project-api-key", responses=responses(404))
async def update_key(
    project_id: str, api_key_id: str, body: UpdateProjectKey, services: Administered
) -> ProjectKeyObject:
    """Sets the time at which a key expires."""
    if body.expires_in_seconds is None and body.scopes is None:
        raise InvalidRequest(
            "Provide at least one of 'scopes' and 'expires_in_seconds'.",
            param="expires_in_seconds",
            code="missing_required_parameter",
        )
    changed = await services.project_keys(project_id).change(
        api_key_id, lifetime_s=body.expires_in_seconds
    )
    return ProjectKeyObject.of(changed)


@router.delete("/{api_key_id}", operation_id="delete-project-api-key", responses=responses(404))
async def delete_key(project_id: str, api_key_id: str, services: Administered) -> ProjectKeyDeleted:
    """Deletes a key; it stops working at once."""
    await services.project_keys(project_id).delete(api_key_id)
    return ProjectKeyDeleted(id=api_key_id)
