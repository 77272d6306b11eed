"""Routes of checkpoint permissions.

A model's name contains colons and may contain a slash, so it is read as a decoded path.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from app.api.schemas.common import Deleted, Page, object_page
from app.api.schemas.permissions import CreatePermissions, PermissionObject
from app.api.support.dependencies import After, AnyPrincipal, Context, Limit
from app.api.support.errors import responses
from app.domain.models.permissions import CheckpointPermission
from app.factory.administration import permission_service

router = APIRouter(
    prefix="/v1/fine_tuning/checkpoints/{fine_tuned_model_checkpoint:path}/permissions",
    tags=["Fine-tuning"],
)


@router.get("", operation_id="listFineTuningCheckpointPermissions", responses=responses(404))
async def list_permissions(
    fine_tuned_model_checkpoint: str,
    context: Context,
    principal: AnyPrincipal,
    project_id: Annotated[str | None, Query(max_length=128)] = None,
    after: After = None,
    limit: Limit = 10,
    order: Literal["ascending", "descending"] = "descending",
) -> Page[PermissionObject]:
    """Lists the projects that may use a checkpoint's model."""
    rows, has_more = await permission_service(context, principal).page(
        fine_tuned_model_checkpoint,
        project_id=project_id,
        after=after,
        limit=limit,
        descending=order == "descending",
    )
    return _page(rows, has_more=has_more)


@router.post("", operation_id="createFineTuningCheckpointPermission", responses=responses(404))
async def create_permissions(
    fine_tuned_model_checkpoint: str,
    body: CreatePermissions,
    context: Context,
    principal: AnyPrincipal,
) -> Page[PermissionObject]:
    """Permits other projects of the organization to use a checkpoint's model."""
    permissions = permission_service(context, principal)
    rows = await permissions.grant(fine_tuned_model_checkpoint, body.project_ids)
    return _page(rows, has_more=False)


@router.delete(
    "/{permission_id}",
    operation_id="deleteFineTuningCheckpointPermission",
    responses=responses(404),
)
async def delete_permission(
    fine_tuned_model_checkpoint: str, permission_id: str, context: Context, principal: AnyPrincipal
) -> Deleted:
    """Revokes a project's permission."""
    permissions = permission_service(context, principal)
    await permissions.revoke(fine_tuned_model_checkpoint, permission_id)
    return Deleted(id=permission_id, object="checkpoint.permission", deleted=True)


def _page(rows: Sequence[CheckpointPermission], *, has_more: bool) -> Page[PermissionObject]:
    return object_page([PermissionObject.of(row) for row in rows], has_more=has_more)
