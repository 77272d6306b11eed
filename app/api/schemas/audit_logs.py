"""Entries of the audit log on the wire. Source: the hosted API's `AuditLog`."""

from typing import Any, Literal

from pydantic import ConfigDict

from app.domain.accounts.audit_logs import AuditEntry
from app.domain.documents.described import DescribedModel

_CREATION = "created"
_WITHOUT_DETAILS = ("login.succeeded", "logout.succeeded")


class AuditActorUser(DescribedModel):
    """The user of a session. The service has no users: it is the session's API key."""

    id: str
    """Id of the API key that began the session."""
    email: str | None = None
    """Always `null`."""


class AuditActorSession(DescribedModel):
    """A session of the dashboard."""

    user: AuditActorUser
    """The key that the session was begun with."""
    ip_address: str
    """Address that the change came from."""


class AuditActorAccount(DescribedModel):
    """A service account."""

    id: str


class AuditActorKey(DescribedModel):
    """An API key."""

    id: str
    type: Literal["user", "service_account"]
    """`service_account` for a key of a service account."""
    service_account: AuditActorAccount | None = None
    """The service account of the key."""
    ip_address: str
    """Address that the change came from."""


class AuditActor(DescribedModel):
    """The actor of a change."""

    type: Literal["api_key", "session", "command_line"]
    """`command_line`: a command of the operator on the machine of the service."""
    api_key: AuditActorKey | None = None
    """The key, for the type `api_key`."""
    session: AuditActorSession | None = None
    """The session, for the type `session`."""

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditActor":
        match entry.actor_kind:
            case "session":
                user = AuditActorUser(id=entry.actor_id)
                session = AuditActorSession(user=user, ip_address=entry.address)
                return cls(type="session", session=session)
            case "command_line":
                return cls(type="command_line")
            case _:
                account = entry.service_account_id
                key = AuditActorKey(
                    id=entry.actor_id,
                    type="user" if account is None else "service_account",
                    service_account=None if account is None else AuditActorAccount(id=account),
                    ip_address=entry.address,
                )
                return cls(type="api_key", api_key=key)


class AuditProject(DescribedModel):
    """The project that a change belongs to."""

    id: str
    name: str | None


class AuditLogEntry(DescribedModel):
    """A change. It has one more field, named like its `type`: the `id` of what was changed, with
    the `data` of a new object or the `changes_requested` of another one.
    """

    model_config = ConfigDict(extra="allow")

    id: str
    type: str
    """The kind of the change, such as `project.created`."""
    effective_at: int
    """Unix seconds of the change."""
    project: AuditProject | None = None
    """The project; absent for a change of the organization."""
    actor: AuditActor
    """The key, session or command that made the change."""

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditLogEntry":
        shown: dict[str, Any] = {entry.type: _details(entry)}
        if entry.project_id is not None:
            shown["project"] = AuditProject(id=entry.project_id, name=entry.project_name)
        return cls(
            id=entry.id,
            type=entry.type,
            effective_at=entry.effective_at,
            actor=AuditActor.of(entry),
            **shown,
        )


def _details(entry: AuditEntry) -> dict[str, Any]:
    if entry.type in _WITHOUT_DETAILS:
        return {}
    details: dict[str, Any] = {"id": entry.resource_id}
    if entry.details:
        is_new = entry.type.endswith(_CREATION)
        details["data" if is_new else "changes_requested"] = entry.details
    return details
