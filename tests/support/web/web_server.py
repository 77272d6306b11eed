"""An aiohttp application on a real socket of this machine, in a thread of the test process."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

from tests.support.patience import PATIENCE_S


async def _nothing() -> None:
    pass


@contextmanager
def running_app(
    build: Callable[[], web.Application],
    *,
    start: Callable[[], Awaitable[None]] = _nothing,
    stop: Callable[[], Awaitable[None]] = _nothing,
) -> Iterator[str]:
    """Yields the base URL. `start` runs before the application is built, and `stop` after its last
    request, on the server's event loop.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def begin() -> web.AppRunner:
        await start()
        runner = web.AppRunner(build(), handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    async def end(runner: web.AppRunner) -> None:
        await runner.cleanup()
        await stop()

    try:
        runner = asyncio.run_coroutine_threadsafe(begin(), loop).result(PATIENCE_S)
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            asyncio.run_coroutine_threadsafe(end(runner), loop).result(PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
