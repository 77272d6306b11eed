"""Projects of an organization on the wire. Source: the hosted API's `Project`."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from app.api.schemas.common import WireModel
from app.domain.accounts.keys import Project

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class CreateProject(WireModel):
    """Body of `POST /v1/organization/projects`."""

    name: Name
    residency: Annotated[
        None, Field(description="Not available: data remain where the service runs")
    ] = None
    geography: Annotated[None, Field(description="As residency")] = None
    external_key_id: Annotated[None, Field(description="Not offered")] = None


class UpdateProject(WireModel):
    """Absent fields do not change."""

    name: Name | None = None
    geography: Annotated[None, Field(description="Not offered")] = None
    external_key_id: Annotated[None, Field(description="Not offered")] = None


class ProjectObject(BaseModel):
    id: str
    object: Literal["organization.project"] = "organization.project"
    name: str
    created_at: int
    archived_at: int | None
    status: Literal["active", "archived"]
    external_key_id: None = None

    @classmethod
    def of(cls, project: Project) -> "ProjectObject":
        return cls(
            id=project.id,
            name=project.name,
            created_at=project.created_at,
            archived_at=project.archived_at,
            status="active" if project.archived_at is None else "archived",
        )
