"""The actor of a request: the API key, session or command that changes something, and its address.

Owns the actor of the running task, which the store hands to the database with every transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final, Literal

ActorKind = Literal["api_key", "session", "command_line"]
_current: ContextVar["Actor | None"] = ContextVar("actor", default=None)


@dataclass(frozen=True, slots=True)
class Actor:
    kind: ActorKind
    id: str
    """Id of the API key, of a session that of its key; empty while it is not known."""
    address: str = ""
    """The client's address as the service sees it."""

    @property
    def text(self) -> str:
        """Returns kind, id and address, separated by spaces. A text that is not an IP address is
        left out: a header of the client may have named it.
        """
        return " ".join((self.kind, self.id, _ip_address(self.address)))


def _ip_address(sent: str) -> str:
    try:
        return str(ip_address(sent.partition("%")[0]))
    except ValueError:
        return ""


COMMAND_LINE: Final = Actor("command_line", "")
"""A command of the operator, on the machine of the service."""


def act_as(actor: Actor | None) -> None:
    """Names the actor of the running task. Changes without an actor leave no entry in the audit
    log: they are the service's own.
    """
    _current.set(actor)


def identify(key_id: str) -> None:
    """Completes the actor of a sign-in, whose key is known only after the key or link is read."""
    actor = _current.get()
    if actor is not None and not actor.id:
        _current.set(replace(actor, id=key_id))


@contextmanager
def acting_as_key(key_id: str) -> Iterator[None]:
    """Gives the actor of the running task another key within the block."""
    actor = _current.get()
    former = _current.set(None if actor is None else replace(actor, id=key_id))
    try:
        yield
    finally:
        _current.reset(former)


def current_actor() -> Actor | None:
    return _current.get()
