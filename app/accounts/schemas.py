"""Projects of an organization on the wire. Source: the hosted API's `Project`."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints

from app.accounts.accounts import KeyTerms, OwnedKey, Project, ServiceAccount, named_scopes
from app.kit.callers import ALL_SCOPES, Scope
from app.kit.errors import InvalidRequest
from app.kit.fields import DescribedModel
from app.kit.schemas import ClosedBody

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
        return cls.read(project, status="active" if project.archived_at is None else "archived")


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
    def of(cls, owned: OwnedKey, **more: str) -> Self:
        owner = AdminKeyOwner.read(owned.organization, name=owned.organization.title)
        return cls.read(owned.key, owner=owner, **more)


class AdminKeyWithValue(AdminKeyObject):
    """A new admin key with its value, which no other reply contains."""

    value: str
    """The key. No later reply contains it."""


class AdminKeyDeleted(DescribedModel):
    """The confirmation that an admin key is deleted."""

    id: str
    object: Literal["organization.admin_api_key.deleted"] = "organization.admin_api_key.deleted"
    deleted: Literal[True] = True


Scopes = Annotated[list[Scope], Field(min_length=1, max_length=len(ALL_SCOPES))]


class UpdateProjectKey(ClosedBody):
    """Changes of a key; absent fields do not change."""

    expires_in_seconds: Lifetime | None = None
    """Seconds from now until the key expires."""
    scopes: Scopes | None = None
    """What the key may do from now on."""


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
    scopes: list[Scope] | None
    """What the key may do; `null`: everything in its project."""
    owner_project_access: Literal["active", "inactive"]
    """`inactive` while the project is archived."""

    @classmethod
    def of(cls, owned: OwnedKey) -> "ProjectKeyObject":
        access = "active" if owned.key.project_archived_at is None else "inactive"
        return cls.read(owned.key, owner=_owner(owned), owner_project_access=access)


def _owner(owned: OwnedKey) -> OwnedByServiceAccount | OwnedByUser:
    account, organization = owned.account, owned.organization
    if account is None:
        return OwnedByUser(user=OwnerUser.read(organization, name=organization.title))
    named = OwnerServiceAccount.read(account, role=account.role.value)
    return OwnedByServiceAccount(service_account=named)


class ProjectKeyDeleted(DescribedModel):
    """The confirmation that a key of a project is deleted."""

    id: str
    object: Literal["organization.project.api_key.deleted"] = "organization.project.api_key.deleted"
    deleted: Literal[True] = True


class CreateServiceAccount(ClosedBody):
    """A new service account, with or without a first key."""

    name: Name
    create_service_account_only: bool | None = None
    """True makes no key, so the account has no role yet."""
    expires_in_seconds: Lifetime | None = None
    """Seconds until its first key expires; absent: it does not expire."""
    scopes: Scopes | None = None
    """What its first key may do; absent: everything in its project."""

    @property
    def terms(self) -> KeyTerms | None:
        """What its first key is to be; `None` for no key. Raises `InvalidRequest`."""
        if not self.create_service_account_only:
            return KeyTerms(self.expires_in_seconds, named_scopes(self.scopes))
        for name in ("expires_in_seconds", "scopes"):
            if getattr(self, name) is not None:
                raise InvalidRequest(f"'{name}' needs a key: the call creates none.", param=name)
        return None


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
    scopes: Scopes | None = None
    """What the key may do; absent: everything in its project."""

    @property
    def terms(self) -> KeyTerms:
        return KeyTerms(self.expires_in_seconds, named_scopes(self.scopes))


class ServiceAccountKey(DescribedModel):
    """A new key with its value, which no other reply contains."""

    id: str
    object: Literal["organization.project.service_account.api_key"] = (
        "organization.project.service_account.api_key"
    )
    name: str
    created_at: int
    expires_at: int | None
    scopes: list[Scope] | None
    """What the key may do; `null`: everything in its project."""
    value: str
    """The key. No later reply contains it."""


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
        return cls.read(account, role=account.role.value)


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
        role = "none" if api_key is None else "member"
        return cls.read(account, role=role, api_key=api_key)


class ServiceAccountDeleted(DescribedModel):
    """The confirmation that a service account and its keys are deleted."""

    id: str
    object: Literal["organization.project.service_account.deleted"] = (
        "organization.project.service_account.deleted"
    )
    deleted: Literal[True] = True
