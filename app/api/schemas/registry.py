"""Fields that registered tools, graders and curricula share (extensions of the hosted API)."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from app.api.schemas.common import WireModel
from app.api.schemas.jobs import MetadataKey, MetadataValue
from app.domain.described import Described
from app.domain.registry.registered_objects import LabelChanges, Registered

Metadata = Annotated[dict[MetadataKey, MetadataValue], Field(max_length=16)]
Version = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="Number of a version; the newest when absent")
]


class RegisteredObject(Described):
    """Fields of every registered object that the service sets."""

    id: str
    created_at: int
    updated_at: int
    """Creation time of this version."""
    version: int
    """Number of the version, from 1."""
    name: str
    metadata: dict[str, str] | None


def label_changes(body: WireModel) -> LabelChanges:
    """Reads `name` and `metadata` of an update, whose absent fields do not change."""
    sent = body.model_dump(include={"name", "metadata"}, exclude_unset=True)
    return LabelChanges(sent.get("name"), sent.get("metadata"), "metadata" in sent)


def own_keys(registered: Registered) -> dict[str, Any]:
    return {
        "id": registered.id,
        "created_at": registered.created_at,
        "updated_at": registered.updated_at,
        "version": registered.version,
        "name": registered.name,
        "metadata": registered.metadata,
    }
