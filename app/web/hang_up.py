"""Cancels the work of a request when its client hangs up, so that no engine computes an answer
without a reader.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

Result = TypeVar("Result")


async def unless_client_hangs_up(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Returns the result of `work`. Cancels it and raises `ClientDisconnect` when the client hangs
    up.

    The request's body must have been read, because the next message is then the disconnect.
    """
    task, hung_up = asyncio.ensure_future(work), asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait((task, hung_up), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        for future in (task, hung_up):
            future.cancel()
        await asyncio.gather(task, hung_up, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
