"""Organizations, projects, keys, service accounts and sessions."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from app.kit.callers import ALL_SCOPES, Principal, Scope, Tenant
from app.kit.errors import PermissionDenied


class KeyKind(StrEnum):
    PROJECT = "project"
    ADMIN = "admin"


# Both as the hosted API answers a key of an archived project.
PROJECT_ARCHIVED = "The project you are requesting has been archived and is no longer accessible"
NO_PROJECT = "not_authorized_invalid_project"
USE_RESOLUTION_S: Final = 60
"""Shortest time between two records of a key's use."""


@dataclass(frozen=True, slots=True)
class Organization:
    id: str
    slug: str
    title: str
    created_at: int


@dataclass(frozen=True, slots=True)
class Project:
    id: str
    organization_id: str
    name: str
    created_at: int
    archived_at: int | None = None
    """Time of archiving: from then on its keys are refused and its rows never change."""


class ServiceAccountRole(StrEnum):
    """Role of a service account, stored and shown as in the hosted API. Without a role it gets no
    keys; all other roles have equal rights, because a key acts for the whole project.
    """

    OWNER = "owner"
    MEMBER = "member"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    id: str
    project_id: str
    name: str
    role: ServiceAccountRole
    created_at: int


@dataclass(frozen=True, slots=True)
class ApiKeyRow:
    id: str
    organization_id: str
    project_id: str | None
    """`None` for an organization's admin key."""
    kind: KeyKind
    name: str
    key_id: str
    secret_hmac: bytes = field(repr=False)
    last4: str
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    project_archived_at: int | None = None
    last_used_at: int | None = None
    """Time of the last request, to the minute."""
    service_account_id: str | None = None
    """`None` for admin keys, and for project keys that the operator made on the installation."""
    scopes: tuple[Scope, ...] | None = None
    """`None`: the key may do everything in its project."""

    @property
    def redacted_value(self) -> str:
        """Returns a part by which the owner recognises the key and nobody guesses it."""
        return f"art_{self.kind.value}_{self.key_id[:4]}...{self.last4}"


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What is asked for a new key: its seconds until it expires, and its scopes; `None`: no end,
    and everything.
    """

    lifetime_s: int | None = None
    scopes: tuple[Scope, ...] | None = None


def named_scopes(sent: Collection[Scope] | None) -> tuple[Scope, ...] | None:
    """Returns the named scopes once and in their order; `None` where none is named."""
    return tuple(scope for scope in ALL_SCOPES if sent and scope in sent) or None


@dataclass(frozen=True, slots=True)
class OwnedKey:
    key: ApiKeyRow
    organization: Organization
    account: ServiceAccount | None = None


SESSION_S: Final = 12 * 3600
LINK_S: Final = 3600
MAX_SESSIONS: Final = 20
"""Largest number of open sessions of one API key, and of its links; one more ends the oldest."""


class SessionKind(StrEnum):
    """A session shows pages; a link can be exchanged once for a session."""

    SESSION = "session"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class StoredSession:
    id: str
    """Hash of the secret that the browser has; the secret itself is not stored."""
    kind: SessionKind
    project_id: str | None
    """The project of its API key; `None` for an admin key."""
    key_id: str
    """Look-up part of the API key by which it was created."""
    expires_at: int
    organization_id: str | None = None
    """The organization of its admin key; `None` for a project's key."""


@dataclass(frozen=True, slots=True)
class SessionOwner:
    principal: Principal
    form_token: str
    """Proof that a form was made for this session; no other site can read it."""

    @property
    def tenant(self) -> Tenant:
        """The project of the key. Raises `AdministratorSession` for an admin key."""
        if isinstance(self.principal, Tenant):
            return self.principal
        raise AdministratorSession(
            "An admin key manages projects and reads no project's data; sign in with a project's "
            "API key to see this page."
        )


class AdministratorSession(PermissionDenied):
    """The session of an admin key asked for a page of a project."""
