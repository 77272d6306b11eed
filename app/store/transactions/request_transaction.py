"""One transaction for a whole request: units of its tenant join it instead of opening their own.

A joined unit is a savepoint: a failure inside rolls back that unit alone, and nothing is committed
before the request's answer is complete. Units of another context, such as a key's look-up, do not
join.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.tenants import Principal
from app.domain.errors import Unavailable
from app.slots.shared_slots import SharedSlots

_SLOT_TIMEOUT_S: Final = 10.0

_current: ContextVar["RequestTransaction | None"] = ContextVar("request_transaction", default=None)


class RequestTransaction:
    """The open transaction of a request, shared by the request's units."""

    def __init__(self, session: AsyncSession, context: Mapping[str, str]) -> None:
        self.session = session
        self.context = dict(context)
        self.after_commit: list[Callable[[], Awaitable[None]]] = []
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None
        self._depth = 0

    async def enter(self) -> None:
        """Waits until no other task of the request uses the session."""
        task = asyncio.current_task()
        if self._holder is not task or task is None:
            await self._lock.acquire()
            self._holder = task
        self._depth += 1

    def leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._holder = None
            self._lock.release()


class RequestSlots:
    """Limits the number of requests that occupy a transaction, and so a connection, until they end.

    Such a request may need a second connection, for a unit of another context. If requests
    occupied all connections, none of them could end. One project leaves slots to the others of its
    organization, and one organization a slot to other organizations.
    """

    def __init__(self, at_once: int) -> None:
        self._slots = SharedSlots(
            at_once, of_organization=max(1, at_once - 1), of_project=max(1, at_once - 2)
        )

    @asynccontextmanager
    async def taken(self, principal: Principal) -> AsyncIterator[None]:
        """Raises `Unavailable` when no slot becomes free in time."""
        try:
            async with asyncio.timeout(_SLOT_TIMEOUT_S):
                free = await self._slots.acquire(principal.organization_id, principal.scope_id)
        except TimeoutError as error:
            raise Unavailable("Too many requests are running; try again soon.") from error
        try:
            yield
        finally:
            free()


def joinable(context: Mapping[str, str]) -> RequestTransaction | None:
    """Returns the request's transaction when it has the same settings, else `None`."""
    current = _current.get()
    return current if current is not None and current.context == dict(context) else None


def register(transaction: RequestTransaction) -> Callable[[], None]:
    """Lets the request's units join, until the returned function is called."""
    token = _current.set(transaction)
    return lambda: _current.reset(token)
