"""Service accounts on the wire. Source: the hosted API's `ProjectServiceAccount`."""

from typing import Literal

from app.api.schemas.admin_keys import Lifetime
from app.api.schemas.common import ClosedBody
from app.api.schemas.project_keys import NoScopes
from app.api.schemas.projects import Name
from app.domain.accounts.keys import ApiKeyRow, ServiceAccount
from app.domain.documents.described import DescribedModel


class CreateServiceAccount(ClosedBody):
    """A new service account, with or without a first key."""

    name: Name
    create_service_account_only: bool | None = None
    """True makes no key, so the account has no role yet."""
    expires_in_seconds: Lifetime | None = None
    """Seconds until its first key expires; absent: it does not expire."""


class UpdateServiceAccount(ClosedBody):
    """Changes of a service account; absent fields do not change."""

    name: Name | None = None
    role: Literal["member", "owner"] | None = None
    """The new role."""


class CreateServiceAccountKey(ClosedBody):
    """A new key of a service account."""

    name: Name | None = None
    expires_in_seconds: Lifetime | None = None
    """Seconds until the key expires; absent: it does not expire."""
    scopes: NoScopes | None = None
    """Must be empty: a key has all rights of its project."""


class ServiceAccountKey(DescribedModel):
    """A new key with its value, which no other reply contains."""

    id: str
    object: Literal["organization.project.service_account.api_key"] = (
        "organization.project.service_account.api_key"
    )
    name: str
    created_at: int
    expires_at: int | None
    value: str
    """The key. No later reply contains it."""

    @classmethod
    def showing(cls, key: ApiKeyRow, value: str) -> "ServiceAccountKey":
        return cls(
            id=key.id,
            name=key.name,
            created_at=key.created_at,
            expires_at=key.expires_at,
            value=value,
        )


class ServiceAccountObject(DescribedModel):
    """A service account: a non-human owner of keys."""

    id: str
    object: Literal["organization.project.service_account"] = "organization.project.service_account"
    name: str
    role: Literal["owner", "member", "none"]
    """`none` without a key."""
    created_at: int

    @classmethod
    def of(cls, account: ServiceAccount) -> "ServiceAccountObject":
        return cls(
            id=account.id,
            name=account.name,
            role=account.role.value,
            created_at=account.created_at,
        )


class NewServiceAccount(DescribedModel):
    """A new service account with its first key, or without key and role."""

    id: str
    object: Literal["organization.project.service_account"] = "organization.project.service_account"
    name: str
    role: Literal["member", "none"]
    """`none` without a key."""
    created_at: int
    api_key: ServiceAccountKey | None
    """Its first key; `null` with `create_service_account_only`."""

    @classmethod
    def showing(
        cls, account: ServiceAccount, api_key: ServiceAccountKey | None
    ) -> "NewServiceAccount":
        return cls(
            id=account.id,
            name=account.name,
            role="none" if api_key is None else "member",
            created_at=account.created_at,
            api_key=api_key,
        )


class ServiceAccountDeleted(DescribedModel):
    """The confirmation that a service account and its keys are deleted."""

    id: str
    object: Literal["organization.project.service_account.deleted"] = (
        "organization.project.service_account.deleted"
    )
    deleted: Literal[True] = True
