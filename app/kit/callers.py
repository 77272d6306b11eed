"""Who calls: the tenant or administrator of a request, and the actor of a change."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final, Literal, get_args

from app.kit.ids import OrganizationId, ProjectId


@dataclass(frozen=True, slots=True)
class Actor:
    kind: Literal["api_key", "session", "command_line"]
    id: str
    """Id of the API key, of a session that of its key; empty while it is not known."""
    address: str = ""

    @property
    def text(self) -> str:
        """Kind, id, and the address if it is an IP address: a client's header may have named it."""
        address = ""
        with suppress(ValueError):
            address = str(ip_address(self.address.partition("%")[0]))
        return f"{self.kind} {self.id} {address}"


COMMAND_LINE: Final = Actor("command_line", "")

Scope = Literal["read", "serve", "train", "admin"]
"""What a key of a project may do; `app.http.scopes` says which route needs which."""
ALL_SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Tenant:
    """One project of one organization: the unit of isolation (rows, adapters, limits, logs)."""

    organization_id: OrganizationId
    project_id: ProjectId
    organization_slug: str
    key_id: str
    """Id of the caller's API key, for logs; a run has the key id of its job."""
    scopes: tuple[Scope, ...] = ALL_SCOPES

    @property
    def scope_id(self) -> str:
        return self.project_id


@dataclass(frozen=True, slots=True)
class AdminPrincipal:
    """An organization's admin key: manages projects and keys, reads no project's data."""

    organization_id: OrganizationId
    key_id: str

    @property
    def scope_id(self) -> str:
        return self.organization_id


Principal = Tenant | AdminPrincipal

_current: ContextVar[Actor | None] = ContextVar("actor", default=None)


def act_as(actor: Actor | None) -> None:
    """Names the task's actor. Changes without one leave no entry in the audit log."""
    _current.set(actor)


def identify(key_id: str) -> None:
    """Completes the actor of a sign-in, whose key is known only after the key or link is read."""
    actor = _current.get()
    if actor is not None and not actor.id:
        _current.set(replace(actor, id=key_id))


@contextmanager
def acting_as_key(key_id: str) -> Iterator[None]:
    actor = _current.get()
    former = _current.set(None if actor is None else replace(actor, id=key_id))
    try:
        yield
    finally:
        _current.reset(former)


def current_actor() -> Actor | None:
    return _current.get()
