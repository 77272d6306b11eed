"""Renders pages on separate threads, one at a time for each project.

A page of a long job takes tens of milliseconds, for which the event loop would block all other
requests. Pages of one project wait for each other, and pages of one organization leave a thread
free for other organizations.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from app.domain.accounts.tenants import Principal
from app.slots.shared_slots import SharedSlots

Made = TypeVar("Made")
_AT_ONCE: Final = 4
_THREADS: Final = ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="pages")
_SLOTS: Final = SharedSlots(None, of_organization=_AT_ONCE - 1)
"""Slots of projects and organizations; the pool limits the pages of all organizations together."""


async def made_on_thread(principal: Principal, make: Callable[[], Made]) -> Made:
    return await _SLOTS.run_on_thread(
        principal.organization_id, principal.scope_id, make, threads=_THREADS
    )
