"""Makes replies of pages on threads of their own, one at a time for each project.

A page of a long job takes tens of milliseconds, which the event loop would take from all other
requests. One project's many pages wait for each other and leave threads to the pages of others.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar
from weakref import WeakValueDictionary

Made = TypeVar("Made")
_THREADS: Final = ThreadPoolExecutor(max_workers=4, thread_name_prefix="pages")
_LOCKS: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()
"""Locks by project. A lock lives while somebody waits for it."""


async def made_on_thread(project_id: str, make: Callable[[], Made]) -> Made:
    lock = _LOCKS.get(project_id)
    if lock is None:
        lock = _LOCKS[project_id] = asyncio.Lock()
    async with lock:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, make)
