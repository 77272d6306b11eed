"""Adds up the metrics of a worker's processes, which each of them writes into files of its own."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from typing_extensions import override

_ENDED: Final = 0
"""Stands in a file's name for all processes that have ended."""
_PARENT: Final = 1
"""Position of the parent's pid in `/proc/PID/stat`, after the name."""


class WorkerMetrics:
    """The metrics of one worker: of all its processes together, and of its main process."""

    def __init__(self, directory: Path, *, pid: int) -> None:
        """`pid` is the worker's main process."""
        self._directory = directory
        self._registry = CollectorRegistry()
        self._lock = threading.Lock()
        MultiProcessCollector(self._registry, path=str(directory))  # type: ignore[no-untyped-call]  # the library types its public part only
        ProcessCollector(registry=self._registry, pid=lambda: pid)
        self._registry.register(_Descendants(pid))

    def show(self) -> bytes:
        """Returns the metrics; any thread may ask."""
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
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's process has taken the number
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
    """Returns a process with all of its descendants."""
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
