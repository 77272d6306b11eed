"""Serves a worker's metrics from a process of its own: `python -m workers.telemetry PID`."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from typing_extensions import override

from app.kit.http import has_key
from app.kit.logs import log_to_stderr
from app.kit.processes import signal_at_parent_end
from app.settings import Settings, load_settings
from workers.telemetry.metrics_server import DIRECTORY

_ENDED: Final = 0
_PARENT: Final = 1
"""Position of the parent's pid in `/proc/PID/stat`, after the name."""


class WorkerMetrics:
    def __init__(self, directory: Path, *, pid: int) -> None:
        self._directory = directory
        self._registry = CollectorRegistry()
        self._lock = threading.Lock()
        MultiProcessCollector(self._registry, path=str(directory))  # type: ignore[no-untyped-call]  # the library types its public part only
        ProcessCollector(registry=self._registry, pid=lambda: pid)
        self._registry.register(_Descendants(pid))

    def show(self) -> bytes:
        with self._lock:  # two readers at once would count an ended process twice
            settle(self._directory)
            return generate_latest(self._registry)

    def settle(self) -> None:
        """Adds up the processes that have ended, so that no files pile up while nobody reads."""
        with self._lock:
            settle(self._directory)


def settle(directory: Path) -> None:
    """Moves the counts of processes that have ended into one file, and removes their gauges."""
    for path in sorted(directory.glob("*.db")):
        kind, _, number = path.stem.rpartition("_")
        pid = int(number)
        if pid == _ENDED or _runs(pid):
            continue
        if not kind.startswith("gauge"):
            _add(path, directory / f"{kind}_{_ENDED}.db")
        path.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):  # another user's process has taken the number
        return False
    return True


def _add(path: Path, total: Path) -> None:
    files: Any = MmapedDict  # the library types its public part only
    sums = files(str(total))
    try:
        for key, value, _, _ in files.read_all_values_from_file(str(path)):
            sums.write_value(key, sums.read_value(key)[0] + value, 0.0)
    finally:
        sums.close()


class _Descendants(Collector):
    """Counts the processes of the worker and their memory; shared pages count in each."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    @override
    def collect(self) -> Iterator[Metric]:
        pids = _family(self._pid)
        if not pids:  # not Linux, or the worker has just ended
            return
        count = GaugeMetricFamily(
            "agent_rft_worker_processes", "Processes of this worker, those of jobs included."
        )
        count.add_metric([], len(pids))
        yield count
        memory = GaugeMetricFamily(
            "agent_rft_worker_resident_memory_bytes",
            "Resident memory of these processes; pages that they share count in each.",
        )
        memory.add_metric([], sum(map(_resident_bytes, pids)))
        yield memory


def _family(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            after_name = entry.read_text().rpartition(")")[2].split()
            children.setdefault(int(after_name[_PARENT]), []).append(int(entry.parent.name))
    found, left = list[int](), [pid] if Path(f"/proc/{pid}").exists() else []
    while left:
        found.append(left.pop())
        left += children.get(found[-1], [])
    return found


def _resident_bytes(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


log = structlog.get_logger()
_LOOK_S: Final = 1.0
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
