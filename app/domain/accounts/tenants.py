"""The tenant that every scoped store and service is built for."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.ids import OrganizationId, ProjectId


class KeyKind(StrEnum):
    PROJECT = "project"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Tenant:
    """One project of one organization: the unit of isolation (rows, adapters, limits, logs)."""

    organization_id: OrganizationId
    project_id: ProjectId
    organization_slug: str
    key_id: str
    """Id of the caller's API key, for logs; a run has the key id of its job."""

    @property
    def scope_id(self) -> str:
        """Id of the project or organization: limits are counted and responses sealed by it."""
        return self.project_id


@dataclass(frozen=True, slots=True)
class AdminPrincipal:
    """An organization's admin key: manages projects and keys, reads no project's data."""

    organization_id: OrganizationId
    key_id: str

    @property
    def scope_id(self) -> str:
        """Id of what a request acts for: limits are counted and responses sealed by it."""
        return self.organization_id


Principal = Tenant | AdminPrincipal
"""The caller of a request."""
