"""The process that shows a worker's figures: `python -m workers.telemetry PID`.

A process of its own, so that neither its server nor a slow reader takes time from the worker, and
the worker forks no thread. It ends with the worker, and removes the directory of the figures.
"""

import asyncio
import contextlib
import ctypes
import hmac
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from app.logs import log_to_stderr
from app.settings.settings import Settings, load_settings
from workers.telemetry.collecting import WorkerFigures
from workers.telemetry.serving import DIRECTORY

log = structlog.get_logger()
_LOOK_S: Final = 1.0
"""Seconds between two looks whether the worker still runs, where the kernel does not report it."""
_SHUTDOWN_S: Final = 1.0
_PR_SET_PDEATHSIG: Final = 1
_RETRY_S: Final = 1.0


def build_app(figures: WorkerFigures, *, key: str | None) -> web.Application:
    """Builds the application. Without a key everyone who reaches the port reads the figures."""

    async def metrics(request: web.Request) -> web.Response:
        sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given = sent.encode(errors="surrogateescape")
        if key is not None and not hmac.compare_digest(given, key.encode()):
            return web.Response(status=401, text="Send AGENT_RFT_MONITORING_KEY as bearer token.\n")
        content = await asyncio.to_thread(figures.show)
        return web.Response(body=content, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    return app


async def serve(settings: Settings, figures: WorkerFigures, *, worker: int) -> None:
    """Serves until the worker ends."""
    key = settings.monitoring_key
    app = build_app(figures, key=None if key is None else key.get_secret_value())
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    binding = asyncio.ensure_future(_bind(runner, settings))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, ended.set)
    _report_end_of_parent(signal.SIGUSR1)
    try:
        while os.getppid() == worker and not ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _LOOK_S)
    finally:
        binding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await binding
        await runner.cleanup()


def _report_end_of_parent(number: signal.Signals) -> None:
    """Lets Linux send a signal when the parent ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


async def _bind(runner: web.AppRunner, settings: Settings) -> None:
    """Opens the port. One that is taken is tried again: an earlier worker may just end."""
    host, port = settings.telemetry.metrics_host, settings.telemetry.metrics_port
    while True:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            log.warning("figures not shown", host=host, port=port, error=str(error))
            await asyncio.sleep(_RETRY_S)
        else:
            log.info("figures shown", host=host, port=port)
            return


def main() -> int:
    log_to_stderr()
    # Signals to the worker's group are for the worker, whose end ends this process.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    worker, directory = int(sys.argv[1]), Path(os.environ.pop(DIRECTORY))
    try:
        figures = WorkerFigures(directory, pid=worker)
        asyncio.run(serve(load_settings(), figures, worker=worker))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
