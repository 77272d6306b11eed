"""Organizations, projects and API keys, as rows speak of them."""

from dataclasses import dataclass, field

from app.domain.tenants import KeyKind


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


@dataclass(frozen=True, slots=True)
class ApiKeyRow:
    """A stored key: its secret only as an HMAC."""

    id: str
    organization_id: str
    project_id: str | None
    """`None` for an organization's admin key."""
    kind: KeyKind
    name: str
    key_id: str
    """The look-up part of the key's text."""
    secret_hmac: bytes = field(repr=False)
    last4: str
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
