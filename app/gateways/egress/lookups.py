"""Looks up the addresses of host names, with limits for each project.

Owns the threads of the system's resolver. Promises: names whose servers do not answer delay only
the lookups of the project that named them, at worst of its organization; the wait for a slot and
the wait for name servers have a limit and an error each. Must not know which addresses may be
dialled.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Final

from app.gateways.egress.owners import Owner, current_owner
from app.slots.shared_slots import SharedSlots

Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Resolves host name and port to addresses. Raises `OSError` if none exist."""

OF_PROJECT: Final = 4
_OF_ORGANIZATION: Final = 8
_OF_ALL: Final = 256
"""Thirty-two organizations of unanswered names fill it; a waiting thread costs next to nothing."""
_THREADS: Final = 2 * _OF_ALL
"""A process has two clients, of customers' endpoints and of the operator's."""
_LOOKUP_TIMEOUT_S: Final = 5.0
_SLOT_TIMEOUT_S: Final = 5.0
NOT_LOOKED_UP: Final = (
    "host name was not looked up: other host names, whose name servers do not answer, had every "
    "slot of this project or its organization"
)


class LookupsBusy(OSError):
    """Nothing was asked: the slots of the project or its organization were taken until the end of
    the wait.
    """

    def __init__(self) -> None:
        super().__init__(f"the {NOT_LOOKED_UP}")


class LookupTimeout(OSError):
    def __init__(self) -> None:
        super().__init__(
            "the host name does not resolve: its name servers did not answer within "
            f"{_LOOKUP_TIMEOUT_S:g} s"
        )


class NameLookups:
    """The lookups of one client."""

    def __init__(self, lookup: Lookup | None = None) -> None:
        self._lookup = lookup or _system_lookup
        self._slots = SharedSlots(_OF_ALL, of_organization=_OF_ORGANIZATION, of_project=OF_PROJECT)
        self._running: dict[tuple[Owner, str, int], asyncio.Task[list[str]]] = {}

    async def addresses(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a name. Raises `OSError`.

        Connections of one project that open at the same moment share one query; results are not
        cached.
        """
        key = (current_owner(), host, port)
        task = self._running.get(key)
        if task is None:
            task = asyncio.ensure_future(self._look_up(*key))
            self._running[key] = task
            task.add_done_callback(_heard)
            task.add_done_callback(lambda _: self._running.pop(key))
        return await asyncio.shield(task)

    async def _look_up(self, owner: Owner, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(_SLOT_TIMEOUT_S):
                free = await self._slots.acquire(*owner)
        except TimeoutError:
            raise LookupsBusy from None
        query = asyncio.ensure_future(self._lookup(host, port))
        # A thread in the system's resolver cannot be stopped: it has the slot until it ends.
        query.add_done_callback(_heard)
        query.add_done_callback(lambda _: free())
        try:
            async with asyncio.timeout(_LOOKUP_TIMEOUT_S):
                return await asyncio.shield(query)
        except TimeoutError:
            raise LookupTimeout from None


def _heard(task: "asyncio.Future[list[str]]") -> None:
    """Reads a task's exception: without a waiter asyncio would log it as never retrieved."""
    if not task.cancelled():
        task.exception()


@cache
def _lookup_threads() -> ThreadPoolExecutor:
    """Returns the threads for blocking lookups, separate so that a slow name server delays nothing
    else.
    """
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="egress-dns")


async def _system_lookup(host: str, port: int) -> list[str]:
    """Resolves a name with the system's resolver."""
    ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    answers = await asyncio.get_running_loop().run_in_executor(_lookup_threads(), ask)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))
