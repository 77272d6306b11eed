"""The engine's one compute thread.

Owns the lanes and their turns: each version with work advances by one iteration, round robin.
Promises that every submitted sequence ends with exactly one final `Update`, whatever happens to it.
Must not know HTTP.
"""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
import torch

from workers.engines.cpu.kv_cache import ARENA_BYTES
from workers.engines.cpu.prefixes import PrefixStore
from workers.engines.cpu.sequence import Sequence, Update
from workers.engines.cpu.version_batch import LaneShape, VersionBatch
from workers.engines.cpu.versions import ADAPTER_BYTES, MERGED_BYTES, Version, Versions
from workers.engines.cpu.weights import Weights

log = structlog.get_logger()

IDLE_LANES: Final = 4
"""Versions without work whose arena stays allocated."""


@dataclass(frozen=True, slots=True)
class Limits:
    threads: int
    """Of one forward pass."""
    max_rows: int = 128
    """Sequences of one version that run at once; more wait their turn."""
    arena_bytes: int = ARENA_BYTES
    """Keys and values of one version's running sequences; what does not fit waits its turn. One
    always runs, whatever it takes."""
    prefix_bytes: int = 256 << 20
    merged_bytes: int = MERGED_BYTES
    """Of weights that adapters were merged into and nothing runs on."""
    adapter_bytes: int = ADAPTER_BYTES
    """Of adapters as they were read; one that is dropped is read again when it is called."""
    invariant: bool = True
    """A sequence's tokens and log-probs have the same bits whatever runs beside it."""
    dtype: torch.dtype = torch.float32


class Scheduler:
    def __init__(
        self, versions: Versions, deliver: Callable[[list[Update]], None], limits: Limits
    ) -> None:
        """`deliver` is called in the compute thread and must hand over quickly."""
        self._versions = versions
        self._deliver = deliver
        self._limits = limits
        self._inbox: queue.SimpleQueue[Sequence | None] = queue.SimpleQueue()
        self._lanes: OrderedDict[int, VersionBatch] = OrderedDict()
        self._prefixes = PrefixStore(limits.prefix_bytes)
        self._shape = LaneShape(
            limits.max_rows, limits.threads, limits.invariant, limits.arena_bytes
        )
        self._held: dict[int, Weights] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._inbox.put(None)
        self._thread.join()

    def submit(self, sequence: Sequence) -> None:
        self._inbox.put(sequence)

    def cancel(self, sequence: Sequence) -> None:
        sequence.cancelled = True
        self._inbox.put(None)

    def _run(self) -> None:
        torch.set_num_threads(self._limits.threads)  # counts for the calling thread
        with torch.inference_mode():
            while not self._stopping.is_set():
                self._receive()
                updates: list[Update] = []
                for lane in list(self._lanes.values()):
                    if not lane.idle:
                        updates += self._advance(lane)
                self._tidy()
                if updates:
                    self._deliver(updates)

    def _receive(self) -> None:
        """Sort what arrived into lanes; sleep while there is nothing to do."""
        if all(lane.idle for lane in self._lanes.values()):
            self._enter(self._inbox.get())
        while not self._inbox.empty():
            self._enter(self._inbox.get())

    def _enter(self, sequence: Sequence | None) -> None:
        if sequence is None:
            return
        version = sequence.version
        lane = self._lanes.get(version.number)
        if lane is None:
            lane = VersionBatch(version, self._prefixes, self._shape)
            self._lanes[version.number] = lane
        self._lanes.move_to_end(version.number)
        lane.add(sequence)

    def _advance(self, lane: VersionBatch) -> list[Update]:
        try:
            return lane.advance(self._weights(lane.version))
        except Exception:  # the thread is a process boundary: one bad batch must not end the engine
            log.exception("a batch failed", version=lane.version.name)
            return lane.abandon()

    def _weights(self, version: Version) -> Weights:
        """Held for as long as the version has work."""
        if version.number not in self._held:
            self._held[version.number] = self._versions.acquire(version)
        return self._held[version.number]

    def _tidy(self) -> None:
        idle = [lane.version for lane in self._lanes.values() if lane.idle]
        for version in idle:
            if self._held.pop(version.number, None) is not None:
                self._versions.release(version)
            if not version.loaded:
                self._prefixes.forget(version.number)
                del self._lanes[version.number]
        for version in [v for v in idle if v.number in self._lanes][:-IDLE_LANES]:
            del self._lanes[version.number]
