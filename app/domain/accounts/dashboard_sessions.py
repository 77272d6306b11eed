"""Sessions of the dashboard, and the one-time links that open one, as values of their rows."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from app.domain.accounts.tenants import AdminPrincipal, Principal, Tenant
from app.domain.errors import PermissionDenied

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
    project_id: str | None
    """The project of its API key; `None` for an admin key."""
    key_id: str
    """Look-up part of the API key by which it was created."""
    expires_at: int
    organization_id: str | None = None
    """The organization of its admin key; `None` for a project's key."""


@dataclass(frozen=True, slots=True)
class SessionOwner:
    """The owner of an open session: the principal of its key, and the proof of its forms."""

    principal: Principal
    form_token: str
    """Proof that a form was made for this session: it is part of each form, and no other site can
    read it.
    """

    @property
    def tenant(self) -> Tenant:
        """The project of the key. Raises `AdministratorSession` for an admin key."""
        match self.principal:
            case Tenant():
                return self.principal
            case AdminPrincipal():
                raise AdministratorSession(
                    "An admin key manages projects and reads no project's data; sign in with a "
                    "project's API key to see this page."
                )
            case _:
                assert_never(self.principal)


class AdministratorSession(PermissionDenied):
    """The session of an admin key asked for a page of a project."""
