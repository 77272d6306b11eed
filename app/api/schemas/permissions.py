"""Checkpoint permissions on the wire. Source: the hosted API's `FineTuningCheckpointPermission`."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.common import ClosedBody
from app.domain.documents.described import DescribedModel
from app.domain.models.permissions import CheckpointPermission

ProjectIdText = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class CreatePermissions(ClosedBody):
    """The projects that may call a checkpoint."""

    project_ids: Annotated[list[ProjectIdText], Field(min_length=1, max_length=100)]
    """Ids of projects that may use the checkpoint's model."""


class PermissionObject(DescribedModel):
    """A project's permission to call a checkpoint."""

    id: str
    object: Literal["checkpoint.permission"] = "checkpoint.permission"
    created_at: int
    project_id: str

    @classmethod
    def of(cls, permission: CheckpointPermission) -> "PermissionObject":
        return cls(
            id=permission.id, created_at=permission.created_at, project_id=permission.project_id
        )
