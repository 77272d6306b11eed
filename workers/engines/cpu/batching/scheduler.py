"""The engine's one compute thread, and the order in which its batches advance. Every submitted
sequence ends with exactly one final `SequenceUpdate`, also after an exception.
"""

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, NamedTuple

import structlog
import torch

from app.models.compute import Products
from workers.engines.cpu.batching.sequence import PrefixStore, Sequence, SequenceUpdate
from workers.engines.cpu.batching.version_batch import WHOLE, BatchShape, StepLimit, VersionBatch
from workers.engines.cpu.models.attention import KV_POOL_BYTES
from workers.engines.cpu.models.decoder import Weights
from workers.engines.cpu.models.versions import ADAPTER_BYTES, MERGED_BYTES, Version, Versions

log = structlog.get_logger()

IDLE_BATCHES: Final = 8


@dataclass(frozen=True, slots=True)
class Limits:
    threads: int
    max_rows: int = 128
    kv_pool_bytes: int = KV_POOL_BYTES
    """Byte limit for keys and values of one version's running sequences in the background, and
    again of its chats; others are queued. At least one runs even if it exceeds the limit."""
    prefix_bytes: int = 256 << 20
    merged_bytes: int = MERGED_BYTES
    adapter_bytes: int = ADAPTER_BYTES
    """Byte limit for unmerged adapters; a dropped one is read again when it is used."""
    invariant: bool = True
    """True if the bits of a sequence's tokens and log-probs must not depend on other sequences."""
    dtype: torch.dtype = torch.float32
    products: Products = "onednn"


class Scheduler:
    def __init__(
        self, versions: Versions, deliver: Callable[[list[SequenceUpdate]], None], limits: Limits
    ) -> None:
        self._versions = versions
        self._deliver = deliver
        self._limits = limits
        self._submitted: queue.SimpleQueue[Sequence | None] = queue.SimpleQueue()
        self._batches: OrderedDict[BatchKind, VersionBatch] = OrderedDict()
        self._order = BatchOrder()
        self._prefixes = PrefixStore(limits.prefix_bytes)
        self._shape = BatchShape(
            limits.max_rows, limits.threads, limits.invariant, limits.kv_pool_bytes
        )
        self._acquired: dict[int, Weights] = {}
        self.iterations = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    @property
    def waiting(self) -> int:
        return sum(version_batch.waiting for version_batch in list(self._batches.values()))

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._submitted.put(None)
        self._thread.join()

    def submit(self, sequence: Sequence) -> None:
        self._submitted.put(sequence)

    def cancel(self, sequence: Sequence) -> None:
        sequence.cancelled = True
        self._submitted.put(None)

    def _run(self) -> None:
        torch.set_num_threads(self._limits.threads)  # applies to the calling thread
        with torch.inference_mode():
            while not self._stopping.is_set():
                if all(version_batch.idle for version_batch in self._batches.values()):
                    self._add(self._submitted.get())
                self.advance()

    def advance(self) -> None:
        while not self._submitted.empty():
            self._add(self._submitted.get())
        working = {kind: batch for kind, batch in self._batches.items() if not batch.idle}
        if not working:
            return
        kind, limit = self._order.next(working, lambda each: working[each].owners)
        updates = self._advance(working[kind], limit)
        self.iterations += 1
        self._release_idle()
        if updates:
            self._deliver(updates)

    def _add(self, sequence: Sequence | None) -> None:
        if sequence is None:
            return
        version = sequence.version
        kind = BatchKind(version.number, sequence.background)
        version_batch = self._batches.get(kind)
        if version_batch is None:
            version_batch = VersionBatch(version, self._prefixes, self._shape)
            self._batches[kind] = version_batch
        self._batches.move_to_end(kind)
        version_batch.add(sequence)

    def _advance(self, version_batch: VersionBatch, limit: StepLimit) -> list[SequenceUpdate]:
        try:
            return version_batch.advance(self._weights(version_batch.version), limit)
        except Exception:  # thread boundary: one failed batch must not end the engine
            log.exception("a batch failed", version=version_batch.version.name)
            return version_batch.abandon()

    def _weights(self, version: Version) -> Weights:
        """Returns the weights, which stay acquired while the version has work."""
        if version.number not in self._acquired:
            self._acquired[version.number] = self._versions.acquire(version)
        return self._acquired[version.number]

    def _release_idle(self) -> None:
        idle = [(kind, batch) for kind, batch in self._batches.items() if batch.idle]
        working = {kind.version for kind, batch in self._batches.items() if not batch.idle}
        for kind, version in ((kind, batch.version) for kind, batch in idle):
            if kind.version not in working and self._acquired.pop(kind.version, None) is not None:
                self._versions.release(version)
            if not version.loaded:
                if kind.version not in working:
                    self._prefixes.drop_version(kind.version)
                del self._batches[kind]
        for kind in [kind for kind, _ in idle if kind in self._batches][:-IDLE_BATCHES]:
            del self._batches[kind]


CHAT_STEPS: Final = 4
"""Steps of chats for one of background work, while both have work."""
NEAR_STEPS: Final = 64
"""Background steps after a chat's that stay small, because its client may well send the next."""
SMALL: Final = StepLimit(prompt_tokens=128, rows=32)
"""Work of a background step while a chat is near; measured: 32 rows take 3 times as long as one."""


class BatchKind(NamedTuple):
    version: int
    background: bool


Owners = Callable[[BatchKind], Collection[str]]


class BatchOrder:
    def __init__(self) -> None:
        self._chat_steps = 0
        self._near = 0
        self._steps = 0
        self._last: dict[BatchKind, int] = {}
        self._served: dict[tuple[bool, str], int] = {}

    def next(
        self, working: Collection[BatchKind], owners: Owners = lambda _: ()
    ) -> tuple[BatchKind, StepLimit]:
        """Returns the batch that computes next, and the most work of its step."""
        self._last = {kind: step for kind, step in self._last.items() if kind in working}
        chats = [kind for kind in working if not kind.background]
        others = [kind for kind in working if kind.background]
        if chats:
            self._near = NEAR_STEPS
        if chats and (not others or self._chat_steps < CHAT_STEPS):
            self._chat_steps += 1
            return self._longest_ago(chats, owners), WHOLE
        self._chat_steps = 0
        if not self._near:
            return self._longest_ago(others, owners), WHOLE
        self._near -= 1
        return self._longest_ago(others, owners), SMALL

    def _longest_ago(self, kinds: list[BatchKind], owners: Owners) -> BatchKind:
        """Returns the batch of the owner whose last step is the longest ago, and counts its next
        one: an owner with twenty versions has no more steps than one with a single version. Among
        batches of one owner, one that had no work goes first.
        """
        self._steps += 1
        if len(kinds) == 1:
            [kind] = kinds
        else:
            kind = self._served_longest_ago(kinds, owners)
        self._last[kind] = self._steps
        return kind

    def _served_longest_ago(self, kinds: list[BatchKind], owners: Owners) -> BatchKind:
        background = kinds[0].background
        owned = {kind: {(background, owner) for owner in owners(kind)} for kind in kinds}
        present = set[tuple[bool, str]]().union(*owned.values())
        self._served = {
            owner: step
            for owner, step in self._served.items()
            if owner in present or owner[0] != background
        }
        # An owner that comes waits like the one that waits longest, and no longer: chats that come
        # and go would otherwise always be first.
        known = [step for owner, step in self._served.items() if owner in present]
        self._served = dict.fromkeys(present, min(known, default=0)) | self._served

        def rank(kind: BatchKind) -> tuple[int, int]:
            longest_ago = min((self._served[owner] for owner in owned[kind]), default=0)
            return longest_ago, self._last.get(kind, 0)

        chosen = min(kinds, key=rank)
        self._served.update(dict.fromkeys(owned[chosen], self._steps))
        return chosen
