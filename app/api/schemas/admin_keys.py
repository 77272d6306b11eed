"""Admin keys on the wire. Source: the hosted API's `AdminApiKey`."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.schemas.common import ClosedBody
from app.api.schemas.projects import Name
from app.domain.accounts.keys import Organization, OwnedKey
from app.domain.documents.described import DescribedModel

MAX_LIFETIME_S = 31_536_000
Lifetime = Annotated[int, Field(ge=1, le=MAX_LIFETIME_S, strict=True)]


class CreateAdminKey(ClosedBody):
    """A new admin key."""

    name: Name
    expires_in_seconds: Lifetime | None = None
    """Seconds until the key expires; absent: it does not expire."""


class AdminKeyOwner(DescribedModel):
    """Owner of an admin key: the organization, because the service has no users."""

    type: Literal["user"] = "user"
    object: Literal["organization.user"] = "organization.user"
    id: str
    """Id of the organization."""
    name: str
    created_at: int
    role: Literal["owner"] = "owner"
    """Always `owner`."""

    @classmethod
    def of(cls, organization: Organization) -> "AdminKeyOwner":
        return cls(id=organization.id, name=organization.title, created_at=organization.created_at)


class AdminKeyObject(DescribedModel):
    """An admin key of the organization, without its value."""

    id: str
    object: Literal["organization.admin_api_key"] = "organization.admin_api_key"
    name: str
    redacted_value: str
    """A part of the key, by which an owner recognises it."""
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    """Time of the last use, to the minute."""
    owner: AdminKeyOwner
    """The organization."""

    @classmethod
    def of(cls, owned: OwnedKey) -> "AdminKeyObject":
        key = owned.key
        return cls(
            id=key.id,
            name=key.name,
            redacted_value=key.redacted_value,
            created_at=key.created_at,
            expires_at=key.expires_at,
            last_used_at=key.last_used_at,
            owner=AdminKeyOwner.of(owned.organization),
        )


class AdminKeyWithValue(AdminKeyObject):
    """A new admin key with its value, which no other reply contains."""

    value: str
    """The key. No later reply contains it."""

    @classmethod
    def showing(cls, owned: OwnedKey, value: str) -> "AdminKeyWithValue":
        return cls(**AdminKeyObject.of(owned).model_dump(), value=value)


class AdminKeyDeleted(DescribedModel):
    """The confirmation that an admin key is deleted."""

    id: str
    object: Literal["organization.admin_api_key.deleted"] = "organization.admin_api_key.deleted"
    deleted: Literal[True] = True
