"""Routes of an organization's projects. For its admin keys only."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from app.accounts.accounts import ServiceAccountRole
from app.accounts.schemas import (
    AdminKeyDeleted,
    AdminKeyObject,
    AdminKeyWithValue,
    CreateAdminKey,
    CreateProject,
    CreateServiceAccount,
    CreateServiceAccountKey,
    NewServiceAccount,
    ProjectKeyDeleted,
    ProjectKeyObject,
    ProjectObject,
    ServiceAccountDeleted,
    ServiceAccountKey,
    ServiceAccountObject,
    UpdateProject,
    UpdateProjectKey,
    UpdateServiceAccount,
)
from app.http.dependencies import Administered, After, Limit
from app.http.error_replies import responses
from app.kit.errors import InvalidRequest
from app.kit.schemas import Order, Page, object_page

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


service_accounts_router = APIRouter(
    prefix="/v1/organization/projects/{project_id}/service_accounts", tags=["Projects"]
)
_ONE = "/{service_account_id}"


@service_accounts_router.get(
    "", operation_id="list-project-service-accounts", responses=responses(404)
)
async def list_accounts(
    project_id: str, services: Administered, after: After = None, limit: Limit = 20
) -> Page[ServiceAccountObject]:
    """Lists the service accounts of a project."""
    rows, has_more = await services.service_accounts(project_id).page(after=after, limit=limit)
    return object_page([ServiceAccountObject.of(row) for row in rows], has_more=has_more)


@service_accounts_router.post(
    "", operation_id="create-project-service-account", responses=responses(404)
)
async def create_account(
    project_id: str, body: CreateServiceAccount, services: Administered
) -> NewServiceAccount:
    """Creates a service account with its first key, whose value this reply alone shows."""
    account, key = await services.service_accounts(project_id).create(body.name, body.terms)
    shown = None if key is None else ServiceAccountKey.read(key.row, value=key.value)
    return NewServiceAccount.showing(account, shown)


@service_accounts_router.get(
    _ONE, operation_id="retrieve-project-service-account", responses=responses(404)
)
async def get_account(
    project_id: str, service_account_id: str, services: Administered
) -> ServiceAccountObject:
    """Returns a service account."""
    account = await services.service_accounts(project_id).get(service_account_id)
    return ServiceAccountObject.of(account)


@service_accounts_router.post(
    _ONE, operation_id="update-project-service-account", responses=responses(404)
)
async def update_account(
    project_id: str, service_account_id: str, body: UpdateServiceAccount, services: Administered
) -> ServiceAccountObject:
    """Changes the name or the role of a service account."""
    role = None if body.role is None else ServiceAccountRole(body.role)
    changed = await services.service_accounts(project_id).change(
        service_account_id, name=body.name, role=role
    )
    return ServiceAccountObject.of(changed)


@service_accounts_router.delete(
    _ONE, operation_id="delete-project-service-account", responses=responses(404)
)
async def delete_account(
    project_id: str, service_account_id: str, services: Administered
) -> ServiceAccountDeleted:
    """Deletes a service account with its keys."""
    await services.service_accounts(project_id).delete(service_account_id)
    return ServiceAccountDeleted(id=service_account_id)


@service_accounts_router.post(
    f"{_ONE}/api_keys", operation_id="CreateanAPIkeyforaserviceaccount", responses=responses(404)
)
async def create_account_key(
    project_id: str, service_account_id: str, body: CreateServiceAccountKey, services: Administered
) -> ServiceAccountKey:
    """Creates a further key of a service account. This reply alone shows its value."""
    key = await services.service_accounts(project_id).create_key(
        service_account_id, body.terms, name=body.name
    )
    return ServiceAccountKey.read(key.row, value=key.value)


project_keys_router = APIRouter(
    prefix="/v1/organization/projects/{project_id}/api_keys", tags=["Projects"]
)
_USABLE = {"active": True, "inactive": False, "any": None, None: None}


@project_keys_router.get("", operation_id="list-project-api-keys", responses=responses(404))
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


@project_keys_router.get(
    "/{api_key_id}", operation_id="retrieve-project-api-key", responses=responses(404)
)
async def get_key(project_id: str, api_key_id: str, services: Administered) -> ProjectKeyObject:
    """Returns a key of a project, without its value."""
    return ProjectKeyObject.of(await services.project_keys(project_id).get(api_key_id))


@project_keys_router.post(
    "/{api_key_id}", operation_id="modify-project-api-key", responses=responses(404)
)
async def update_key(
    project_id: str, api_key_id: str, body: UpdateProjectKey, services: Administered
) -> ProjectKeyObject:
    """Sets the time at which a key expires, or its scopes."""
    if body.expires_in_seconds is None and body.scopes is None:
        raise InvalidRequest(
            "Provide at least one of 'scopes' and 'expires_in_seconds'.",
            param="expires_in_seconds",
            code="missing_required_parameter",
        )
    changed = await services.project_keys(project_id).change(
        api_key_id, lifetime_s=body.expires_in_seconds, scopes=body.scopes
    )
    return ProjectKeyObject.of(changed)


@project_keys_router.delete(
    "/{api_key_id}", operation_id="delete-project-api-key", responses=responses(404)
)
async def delete_key(project_id: str, api_key_id: str, services: Administered) -> ProjectKeyDeleted:
    """Deletes a key; it stops working at once."""
    await services.project_keys(project_id).delete(api_key_id)
    return ProjectKeyDeleted(id=api_key_id)


admin_keys_router = APIRouter(prefix="/v1/organization/admin_api_keys", tags=["Administration"])


@admin_keys_router.get("", operation_id="admin-api-keys-list", responses=responses())
async def list_admin_keys(
    services: Administered, after: After = None, limit: Limit = 20, order: Order = "asc"
) -> Page[AdminKeyObject]:
    """Lists the organization's admin keys."""
    rows, has_more = await services.admin_keys().page(
        after=after, limit=limit, descending=order == "desc"
    )
    return object_page([AdminKeyObject.of(row) for row in rows], has_more=has_more)


@admin_keys_router.post("", operation_id="admin-api-keys-create", responses=responses())
async def create_admin_key(body: CreateAdminKey, services: Administered) -> AdminKeyWithValue:
    """Creates an admin key. This reply alone shows its value."""
    owned, value = await services.admin_keys().create(body.name, lifetime_s=body.expires_in_seconds)
    return AdminKeyWithValue.of(owned, value=value)


@admin_keys_router.get("/{key_id}", operation_id="admin-api-keys-get", responses=responses(404))
async def get_admin_key(key_id: str, services: Administered) -> AdminKeyObject:
    """Returns an admin key, without its value."""
    return AdminKeyObject.of(await services.admin_keys().get(key_id))


@admin_keys_router.delete(
    "/{key_id}", operation_id="admin-api-keys-delete", responses=responses(404)
)
async def delete_admin_key(key_id: str, services: Administered) -> AdminKeyDeleted:
    """Deletes an admin key; it stops working at once."""
    await services.admin_keys().delete(key_id)
    return AdminKeyDeleted(id=key_id)
