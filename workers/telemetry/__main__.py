"""The process that serves a worker's metrics: `python -m workers.telemetry PID`.

A process of its own, so that neither its server nor a slow reader takes time from the worker, and
the worker forks no thread. It ends with the worker, and removes the directory of the metrics.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from app.kit.http import has_key
from app.kit.logs import log_to_stderr
from app.kit.processes import signal_at_parent_end
from app.settings import Settings, load_settings
from workers.telemetry.metrics_server import DIRECTORY
from workers.telemetry.worker_metrics import WorkerMetrics

log = structlog.get_logger()
_LOOK_S: Final = 1.0
"""Seconds between two looks: which processes have ended, and whether the worker still runs where
the kernel does not report it.
"""
_SHUTDOWN_S: Final = 1.0
_RETRY_S: Final = 1.0


def build_app(worker_metrics: WorkerMetrics, *, key: str | None) -> web.Application:
    """Builds the application. Without a key everyone who reaches the port reads the metrics."""

    async def metrics(request: web.Request) -> web.Response:
        if key is not None and not has_key(request.headers.get("Authorization"), key):
            return web.Response(status=401, text="Send AGENT_RFT_MONITORING_KEY as bearer token.\n")
        content = await asyncio.to_thread(worker_metrics.show)
        return web.Response(body=content, headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    return app


async def serve(settings: Settings, metrics: WorkerMetrics, *, worker: int) -> None:
    """Serves until the worker ends."""
    key = settings.monitoring_key
    app = build_app(metrics, key=None if key is None else key.get_secret_value())
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    binding = asyncio.ensure_future(_bind(runner, settings))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, ended.set)
    signal_at_parent_end(signal.SIGUSR1)
    try:
        while os.getppid() == worker and not ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _LOOK_S)
            try:
                await asyncio.to_thread(metrics.settle)
            except OSError as error:  # a full disk: the next look tries again
                log.warning("metrics of ended processes not added up", error=str(error))
    finally:
        binding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await binding
        await runner.cleanup()


async def _bind(runner: web.AppRunner, settings: Settings) -> None:
    """Opens the port. One that is taken is tried again: an earlier worker may just end."""
    host, port = settings.telemetry.metrics_host, settings.telemetry.metrics_port
    while True:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            log.warning("metrics not served", host=host, port=port, error=str(error))
            await asyncio.sleep(_RETRY_S)
        else:
            log.info("metrics served", host=host, port=port)
            return


def main() -> int:
    log_to_stderr()
    # Signals to the worker's group are for the worker, whose end ends this process.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    worker, directory = int(sys.argv[1]), Path(os.environ.pop(DIRECTORY))
    try:
        metrics = WorkerMetrics(directory, pid=worker)
        asyncio.run(serve(load_settings(), metrics, worker=worker))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
