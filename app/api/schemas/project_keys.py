"""API keys of a project on the wire. Source: the hosted API's `ProjectApiKey`."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.api.schemas.admin_keys import Lifetime
from app.api.schemas.common import WireModel
from app.domain.accounts.keys import OwnedKey

NoScopes = Annotated[
    list[str], Field(max_length=0, description="Must be empty: a key has all rights of its project")
]


class UpdateProjectKey(WireModel):
    """Absent fields do not change."""

    expires_in_seconds: Lifetime | None = None
    scopes: NoScopes | None = None


class OwnerServiceAccount(BaseModel):
    id: str
    name: str
    created_at: int
    role: str


class OwnerUser(BaseModel):
    """The organization, as owner of a key that its operator created; the service has no users."""

    id: str
    email: Literal[""] = ""
    name: str
    created_at: int
    role: Literal["owner"] = "owner"


class OwnedByServiceAccount(BaseModel):
    type: Literal["service_account"] = "service_account"
    service_account: OwnerServiceAccount


class OwnedByUser(BaseModel):
    type: Literal["user"] = "user"
    user: OwnerUser


class ProjectKeyObject(BaseModel):
    id: str
    object: Literal["organization.project.api_key"] = "organization.project.api_key"
    name: str
    redacted_value: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    """Time of the last use, to the minute."""
    owner: Annotated[OwnedByServiceAccount | OwnedByUser, Field(discriminator="type")]
    owner_project_access: Literal["active", "inactive"]

    @classmethod
    def of(cls, owned: OwnedKey) -> "ProjectKeyObject":
        key = owned.key
        return cls(
            id=key.id,
            name=key.name,
            redacted_value=key.redacted_value,
            created_at=key.created_at,
            expires_at=key.expires_at,
            last_used_at=key.last_used_at,
            owner=_owner(owned),
            owner_project_access="active" if key.project_archived_at is None else "inactive",
        )


def _owner(owned: OwnedKey) -> OwnedByServiceAccount | OwnedByUser:
    account, organization = owned.account, owned.organization
    if account is None:
        return OwnedByUser(
            user=OwnerUser(
                id=organization.id, name=organization.title, created_at=organization.created_at
            )
        )
    return OwnedByServiceAccount(
        service_account=OwnerServiceAccount(
            id=account.id,
            name=account.name,
            created_at=account.created_at,
            role=account.role.value,
        )
    )


class ProjectKeyDeleted(BaseModel):
    id: str
    object: Literal["organization.project.api_key.deleted"] = "organization.project.api_key.deleted"
    deleted: Literal[True] = True
