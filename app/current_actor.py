"""Keeps the actor of the running task; the store hands it to the database with every transaction.

No room has it: pages, routes, services and commands name the actor, and the store reads it. Must
not know requests, keys or transactions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from app.domain.accounts.actors import Actor

_current: ContextVar[Actor | None] = ContextVar("actor", default=None)


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
