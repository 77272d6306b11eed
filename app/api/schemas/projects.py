"""Projects of an organization on the wire. Source: the hosted API's `Project`."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.api.schemas.common import ClosedBody
from app.domain.accounts.keys import Project
from app.domain.documents.described import DescribedModel

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class CreateProject(ClosedBody):
    """A new project."""

    name: Name
    residency: Annotated[
        None, Field(description="Not available: data remain where the service runs")
    ] = None
    geography: Annotated[None, Field(description="As residency")] = None
    external_key_id: Annotated[None, Field(description="Not offered")] = None


class UpdateProject(ClosedBody):
    """Changes of a project; absent fields do not change."""

    name: Name | None = None
    geography: Annotated[None, Field(description="Not offered")] = None
    external_key_id: Annotated[None, Field(description="Not offered")] = None


class ProjectObject(DescribedModel):
    """A project: the owner of files, jobs, models and keys."""

    id: str
    object: Literal["organization.project"] = "organization.project"
    name: str
    created_at: int
    archived_at: int | None
    """Unix seconds at which it was archived; `null` while it is active."""
    status: Literal["active", "archived"]
    """An archived project runs no new jobs."""
    external_key_id: None = None
    """Always `null`."""

    @classmethod
    def of(cls, project: Project) -> "ProjectObject":
        return cls(
            id=project.id,
            name=project.name,
            created_at=project.created_at,
            archived_at=project.archived_at,
            status="active" if project.archived_at is None else "archived",
        )
