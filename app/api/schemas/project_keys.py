"""API keys of a project on the wire. Source: the hosted API's `ProjectApiKey`."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.admin_keys import Lifetime
from app.api.schemas.common import ClosedBody
from app.domain.accounts.keys import OwnedKey
from app.domain.documents.described import DescribedModel

NoScopes = Annotated[
    list[str], Field(max_length=0, description="Must be empty: a key has all rights of its project")
]


class UpdateProjectKey(ClosedBody):
    """Changes of a key; absent fields do not change."""

    expires_in_seconds: Lifetime | None = None
    """Seconds from now until the key expires."""
    scopes: NoScopes | None = None
    """Must be empty: a key has all rights of its project."""


class OwnerServiceAccount(DescribedModel):
    """The service account that owns a key."""

    id: str
    name: str
    created_at: int
    role: str
    """Role of the service account in the project."""


class OwnerUser(DescribedModel):
    """The organization, as owner of a key that its operator created; the service has no users."""

    id: str
    """Id of the organization."""
    email: Literal[""] = ""
    """Always empty: the service has no users."""
    name: str
    created_at: int
    role: Literal["owner"] = "owner"
    """Always `owner`."""


class OwnedByServiceAccount(DescribedModel):
    """Ownership of a key by a service account."""

    type: Literal["service_account"] = "service_account"
    service_account: OwnerServiceAccount
    """The service account."""


class OwnedByUser(DescribedModel):
    """Ownership of a key by the organization, in the hosted form of a user."""

    type: Literal["user"] = "user"
    user: OwnerUser
    """The organization."""


class ProjectKeyObject(DescribedModel):
    """A key of a project, without its value."""

    id: str
    object: Literal["organization.project.api_key"] = "organization.project.api_key"
    name: str
    redacted_value: str
    """A part of the key, by which an owner recognises it."""
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    """Time of the last use, to the minute."""
    owner: Annotated[OwnedByServiceAccount | OwnedByUser, Field(discriminator="type")]
    """The service account, or the organization for keys of its operator."""
    owner_project_access: Literal["active", "inactive"]
    """`inactive` while the project is archived."""

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


class ProjectKeyDeleted(DescribedModel):
    """The confirmation that a key of a project is deleted."""

    id: str
    object: Literal["organization.project.api_key.deleted"] = "organization.project.api_key.deleted"
    deleted: Literal[True] = True
