"""Sessions of the dashboard, and the one-time links that open one, as values of their rows."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.domain.accounts.tenants import Tenant

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
    """A stored session or link. It has the rights of its API key, and ends with it."""

    id: str
    """Hash of the secret that the browser has; the secret itself is not stored."""
    kind: SessionKind
    project_id: str
    key_id: str
    """Look-up part of the API key by which it was created."""
    expires_at: int


@dataclass(frozen=True, slots=True)
class SessionOwner:
    """The owner of an open session: the tenant, and the proof of its forms."""

    tenant: Tenant
    form_token: str
    """Proof that a form was made for this session: it is part of each form, and no other site can
    read it.
    """
