"""The engine's one compute thread.

Owns the version batches and their turns: each version with work advances by one iteration, round
robin. Promises that every submitted sequence ends with exactly one final `Update`, whatever happens
to it. Must not know HTTP.
"""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
import torch

from workers.engines.cpu.kv_pool import KV_POOL_BYTES
from workers.engines.cpu.prefixes import PrefixStore
from workers.engines.cpu.sequence import Sequence, Update
from workers.engines.cpu.version_batch import BatchShape, VersionBatch
from workers.engines.cpu.versions import ADAPTER_BYTES, MERGED_BYTES, Version, Versions
from workers.engines.cpu.weights import Weights

log = structlog.get_logger()

IDLE_BATCHES: Final = 4
"""Versions without work whose KV pool stays allocated."""


@dataclass(frozen=True, slots=True)
class Limits:
    threads: int
    """Threads of one forward pass."""
    max_rows: int = 128
    """Sequences of one version that run at once; more wait their turn."""
    kv_pool_bytes: int = KV_POOL_BYTES
    """Keys and values of one version's running sequences; what does not fit waits its turn. One
    always runs, whatever it takes."""
    prefix_bytes: int = 256 << 20
    merged_bytes: int = MERGED_BYTES
    """Byte limit for merged weights that no sequence uses."""
    adapter_bytes: int = ADAPTER_BYTES
    """Byte limit for adapters as read; a dropped one is read again when it is called."""
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
        self._batches: OrderedDict[int, VersionBatch] = OrderedDict()
        self._prefixes = PrefixStore(limits.prefix_bytes)
        self._shape = BatchShape(
            limits.max_rows, limits.threads, limits.invariant, limits.kv_pool_bytes
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
                for version_batch in list(self._batches.values()):
                    if not version_batch.idle:
                        updates += self._advance(version_batch)
                self._tidy()
                if updates:
                    self._deliver(updates)

    def _receive(self) -> None:
        """Sort what arrived into version batches; sleep while there is nothing to do."""
        if all(version_batch.idle for version_batch in self._batches.values()):
            self._enter(self._inbox.get())
        while not self._inbox.empty():
            self._enter(self._inbox.get())

    def _enter(self, sequence: Sequence | None) -> None:
        if sequence is None:
            return
        version = sequence.version
        version_batch = self._batches.get(version.number)
        if version_batch is None:
            version_batch = VersionBatch(version, self._prefixes, self._shape)
            self._batches[version.number] = version_batch
        self._batches.move_to_end(version.number)
        version_batch.add(sequence)

    def _advance(self, version_batch: VersionBatch) -> list[Update]:
        try:
            return version_batch.advance(self._weights(version_batch.version))
        except Exception:  # the thread is a process boundary: one bad batch must not end the engine
            log.exception("a batch failed", version=version_batch.version.name)
            return version_batch.abandon()

    def _weights(self, version: Version) -> Weights:
        """Returns the weights, acquired while the version has work."""
        if version.number not in self._held:
            self._held[version.number] = self._versions.acquire(version)
        return self._held[version.number]

    def _tidy(self) -> None:
        idle = [
            version_batch.version for version_batch in self._batches.values() if version_batch.idle
        ]
        for version in idle:
            if self._held.pop(version.number, None) is not None:
                self._versions.release(version)
            if not version.loaded:
                self._prefixes.forget(version.number)
                del self._batches[version.number]
        for version in [v for v in idle if v.number in self._batches][:-IDLE_BATCHES]:
            del self._batches[version.number]
