"""One transaction for a whole request: the units of its tenant join it instead of their own.

A joined unit is a savepoint: what fails inside is undone alone, and nothing is committed before the
request's answer stands. Units of another context (a key's look-up, say) stay apart.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Final
from weakref import WeakValueDictionary

from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import Unavailable

_PLACE_TIMEOUT_S: Final = 10.0

_current: ContextVar["RequestTransaction | None"] = ContextVar("request_transaction", default=None)


class RequestTransaction:
    def __init__(self, session: AsyncSession, context: Mapping[str, str]) -> None:
        self.session = session
        self.context = dict(context)
        self.after_commit: list[Callable[[], Awaitable[None]]] = []
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None
        self._depth = 0

    async def enter(self) -> None:
        """One task of the request at a time: a session serves no two at once."""
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
    """How many requests at once may hold a transaction, and so a connection, until they end.

    A request may need another connection meanwhile, for a unit of another context: were all of them
    held so, none of the requests would ever end. One tenant does not get all of the places.
    """

    def __init__(self, at_once: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._each = max(1, at_once - 2)
        self._owners: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, owner: str) -> AsyncIterator[None]:
        """Raises `Unavailable` when no place becomes free in time."""
        own = self._owners.setdefault(owner, asyncio.Semaphore(self._each))
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(_PLACE_TIMEOUT_S):
                    await stack.enter_async_context(own)
                    await stack.enter_async_context(self._all)
            except TimeoutError as error:
                raise Unavailable("Too many requests are at work; ask again soon.") from error
            yield


def joinable(context: Mapping[str, str]) -> RequestTransaction | None:
    """The request's transaction, for a unit with the very same settings."""
    current = _current.get()
    return current if current is not None and current.context == dict(context) else None


def register(transaction: RequestTransaction) -> Callable[[], None]:
    """Units of this request join it from now on, until the returned function is called."""
    token = _current.set(transaction)
    return lambda: _current.reset(token)
