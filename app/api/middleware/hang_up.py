"""Work that ends when the client hangs up: nobody would wait for what an engine computes on."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

Result = TypeVar("Result")


async def unless_client_hangs_up(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`. Cancels it and raises `ClientDisconnect` once the client is gone.

    The request's body must have been read: what is received after it is the end of the connection.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        for future in (task, gone):
            future.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
