"""A real CPU engine on a real socket, in a thread of the test process."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from app.domain.models.models import BaseModelSpec
from tests.support.patience import PATIENCE_S
from workers.engines.cpu.engine import Engine
from workers.engines.cpu.scheduler import Limits
from workers.engines.cpu.server import build_app


@contextmanager
def running_engine(
    specs: list[BaseModelSpec], *, api_key: str = "", limits: Limits | None = None
) -> Iterator[str]:
    """Yields the base URL."""
    engine = Engine(specs, limits or Limits(threads=1))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> web.AppRunner:
        await engine.start()
        runner = web.AppRunner(
            build_app(engine, api_key=api_key), handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    async def stop(runner: web.AppRunner) -> None:
        await runner.cleanup()
        await engine.stop()

    try:
        runner = asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE_S)
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        asyncio.run_coroutine_threadsafe(stop(runner), loop).result(PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
