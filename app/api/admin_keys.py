"""Routes of an organization's admin keys. For admin keys only."""

from fastapi import APIRouter

from app.api.schemas.admin_keys import (
    AdminKeyDeleted,
    AdminKeyObject,
    AdminKeyWithValue,
    CreateAdminKey,
)
from app.api.schemas.common import Order, Page, object_page
from app.api.support.dependencies import Administered, After, Limit
from app.api.support.errors import responses

router = APIRouter(prefix="/v1/organization/admin_api_keys", tags=["Administration"])


@router.get("", operation_id="admin-api-keys-list", responses=responses())
async def list_admin_keys(
    services: Administered,
    after: After = None,
    limit: Limit = 20,
    order: Order = "asc",
) -> Page[AdminKeyObject]:
    """Lists the organization's admin keys."""
    rows, has_more = await services.admin_keys().page(
        after=after, limit=limit, descending=order == "desc"
    )
    return object_page([AdminKeyObject.of(row) for row in rows], has_more=has_more)


@router.post("", operation_id="admin-api-keys-create", responses=responses())
async def create_admin_key(body: CreateAdminKey, services: Administered) -> AdminKeyWithValue:
    """Creates an admin key. This reply alone shows its value."""
    owned, value = await services.admin_keys().create(body.name, lifetime_s=body.expires_in_seconds)
    return AdminKeyWithValue.showing(owned, value)


@router.get("/{key_id}", operation_id="admin-api-keys-get", responses=responses(404))
async def get_admin_key(key_id: str, services: Administered) -> AdminKeyObject:
    """Returns an admin key, without its value."""
    return AdminKeyObject.of(await services.admin_keys().get(key_id))


@router.delete("/{key_id}", operation_id="admin-api-keys-delete", responses=responses(404))
async def delete_admin_key(key_id: str, services: Administered) -> AdminKeyDeleted:
    """Deletes an admin key; it stops working at once."""
    await services.admin_keys().delete(key_id)
    return AdminKeyDeleted(id=key_id)
