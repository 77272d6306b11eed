"""Routes of a project's service accounts, for admin keys only, and of their keys."""

from fastapi import APIRouter

from app.api.schemas.common import Page, object_page
from app.api.schemas.service_accounts import (
    CreateServiceAccount,
    CreateServiceAccountKey,
    NewServiceAccount,
    ServiceAccountDeleted,
    ServiceAccountKey,
    ServiceAccountObject,
    UpdateServiceAccount,
)
from app.api.support.dependencies import Administered, After, Limit
from app.api.support.errors import responses
from app.domain.accounts.keys import ServiceAccountRole

router = APIRouter(
    prefix="/v1/organization/projects/{project_id}/service_accounts", tags=["Projects"]
)
_ONE = "/{service_account_id}"


@router.get("", operation_id="list-project-service-accounts", responses=responses(404))
async def list_accounts(
    project_id: str, services: Administered, after: After = None, limit: Limit = 20
) -> Page[ServiceAccountObject]:
    """Lists the service accounts of a project."""
    rows, has_more = await services.service_accounts(project_id).page(after=after, limit=limit)
    return object_page([ServiceAccountObject.of(row) for row in rows], has_more=has_more)


@router.post("", operation_id="create-project-service-account", responses=responses(404))
async def create_account(
    project_id: str, body: CreateServiceAccount, services: Administered
) -> NewServiceAccount:
    """Creates a service account with its first key, whose value this reply alone shows."""
    account, key = await services.service_accounts(project_id).create(
        body.name,
        with_key=not body.create_service_account_only,
        lifetime_s=body.expires_in_seconds,
    )
    shown = None if key is None else ServiceAccountKey.showing(key.row, key.value)
    return NewServiceAccount.showing(account, shown)


@router.get(_ONE, operation_id="retrieve-project-service-account", responses=responses(404))
async def get_account(
    project_id: str, service_account_id: str, services: Administered
) -> ServiceAccountObject:
    """Returns a service account."""
    account = await services.service_accounts(project_id).get(service_account_id)
    return ServiceAccountObject.of(account)


@router.post(_ONE, operation_id="update-project-service-account", responses=responses(404))
async def update_account(
    project_id: str, service_account_id: str, body: UpdateServiceAccount, services: Administered
) -> ServiceAccountObject:
    """Changes the name or the role of a service account."""
    role = None if body.role is None else ServiceAccountRole(body.role)
    changed = await services.service_accounts(project_id).change(
        service_account_id, name=body.name, role=role
    )
    return ServiceAccountObject.of(changed)


@router.delete(_ONE, operation_id="delete-project-service-account", responses=responses(404))
async def delete_account(
    project_id: str, service_account_id: str, services: Administered
) -> ServiceAccountDeleted:
    """Deletes a service account with its keys."""
    await services.service_accounts(project_id).delete(service_account_id)
    return ServiceAccountDeleted(id=service_account_id)


@router.post(
    f"{_ONE}/api_keys",
    operation_id="CreateanAPIkeyforaserviceaccount",
    responses=responses(404),
)
async def create_account_key(
    project_id: str,
    service_account_id: str,
    body: CreateServiceAccountKey,
    services: Administered,
) -> ServiceAccountKey:
    """Creates a further key of a service account. This reply alone shows its value."""
    key = await services.service_accounts(project_id).create_key(
        service_account_id, name=body.name, lifetime_s=body.expires_in_seconds
    )
    return ServiceAccountKey.showing(key.row, key.value)
