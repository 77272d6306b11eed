"""The context of a run: job, fence, clients, directories, journal. Writes go through `unit()`."""

import asyncio
import fcntl
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import uuid4

from app.database import Database, RunUnitOfWork
from app.jobs.jobs import Job, TuningMethod
from app.kit.egress import Egress
from app.kit.endpoint_limits import Clock, SystemClock
from app.kit.endpoint_pool import EndpointPool, EndpointState
from app.kit.objects import Objects, remove
from app.models.engine import AdapterCache, Inference, build_adapter_cache
from app.models.models import BaseModelSpec
from app.settings import Settings
from workers.processes.retry import retry_while_unavailable
from workers.progress import PROGRESS

OPERATORS: Final = "a model server of this service"
"""Replaces the address of an operator's server, which customers must not see."""


@dataclass(slots=True)
class Activity:
    _pools: list[EndpointPool] = field(default_factory=list)
    _operators: list[EndpointPool] = field(default_factory=list)
    _busy: list[Callable[[], bool]] = field(default_factory=list)

    def calls_through(self, pool: EndpointPool) -> None:
        self._pools.append(pool)

    def calls_operators_through(self, pool: EndpointPool) -> None:
        self._pools.append(pool)
        self._operators.append(pool)

    def works_while(self, is_busy: Callable[[], bool]) -> None:
        self._busy.append(is_busy)

    def waited_s(self) -> float:
        """Seconds for which every pending call has waited; 0 without any, or beside other work."""
        waits = [wait_s for pool in self._pools if (wait_s := pool.waited_s()) is not None]
        if not waits or any(is_busy() for is_busy in self._busy):
            return 0.0
        return min(waits)

    def overdue_s(self, limit_s: float) -> float | None:
        """As of a pool. Other work of the run does not count: its calls would be lost meanwhile."""
        waits = [pool.overdue_s(limit_s) for pool in self._pools]
        return max((wait for wait in waits if wait is not None), default=None)

    def endpoints(self) -> list[EndpointState]:
        """By names that the owner may read; URLs that differ in a redacted part count as one."""
        found: dict[str, EndpointState] = {}
        for pool in self._pools:
            for state in pool.states():
                name = OPERATORS if pool in self._operators else state.endpoint
                found[name] = _joined(found.get(name), replace(state, endpoint=name))
        return list(found.values())


def _joined(one: EndpointState | None, other: EndpointState) -> EndpointState:
    if one is None:
        return other
    outages = [outage for outage in (one.outage, other.outage) if outage is not None]
    return EndpointState(
        one.endpoint,
        one.answers + other.answers,
        max(outages, key=lambda outage: outage.silent_s, default=None),
        one.never_came_up or other.never_came_up,
    )


class JobDirectories:
    def __init__(self, objects: Objects, key: str, scratch: Path) -> None:
        self._objects = objects
        self._key = key
        self._scratch = scratch

    def path(self, name: str) -> Path:
        return self._scratch / name

    def key(self, name: str) -> str:
        return f"{self._key}/{name}"

    async def store(self, *names: str) -> None:
        await asyncio.gather(*(self._store(name) for name in names))

    async def _store(self, name: str) -> None:
        async def put() -> None:
            # An earlier call whose answer was lost, or another claim, stored the same content
            # already.
            with suppress(FileExistsError):
                await self._objects.put_directory(self.key(name), self.path(name))

        await retry_while_unavailable(put)
        PROGRESS.mark(f"{name} stored")

    async def fetch(self, name: str) -> Path:
        path = self.path(name)
        if not path.exists():
            await retry_while_unavailable(
                lambda: self._objects.fetch_directory(self.key(name), path)
            )
            PROGRESS.mark(f"{name} fetched")
        return path

    async def discard(self, name: str) -> None:
        await self.forget(name)
        await retry_while_unavailable(lambda: self._objects.delete(self.key(name)))

    async def forget(self, *names: str) -> None:
        """Removes directories from the scratch directory alone."""
        for name in names:
            await asyncio.to_thread(remove, self.path(name))

    async def names(self) -> Sequence[str]:
        children = await retry_while_unavailable(lambda: self._objects.children(self._key))
        return [child.name for child in children]


ADAPTER: Final = "adapter"
STATE: Final = "state"
SCHEDULER: Final = "scheduler"


R = TypeVar("R")


async def in_unit(
    unit_of: Callable[[], RunUnitOfWork], work: Callable[[RunUnitOfWork], Awaitable[R]]
) -> R:
    """In a transaction of its own, again while it is unavailable. Raises `LeaseLost`."""

    async def attempt() -> R:
        async with unit_of() as unit:
            return await work(unit)

    return await retry_while_unavailable(attempt)


@dataclass(frozen=True, slots=True)
class RunContext:
    settings: Settings
    database: Database
    objects: Objects
    egress: Egress
    inference: Inference
    job: Job
    fence: int
    scratch: Path
    """The claim's own directory, removed at its end; the engine can read it."""
    organization_slug: str
    base_model: BaseModelSpec
    method: TuningMethod
    """The job's method, with the customer's headers in clear."""
    judge_egress: Egress | None = None
    activity: Activity = field(default_factory=Activity)
    clock: Clock = field(default_factory=SystemClock)
    """The clock of outages and of the polls for them."""
    start: Path | None = None
    """Directory of the tuned adapter that the job starts from; `None` for the bare base model."""

    @property
    def files_validated(self) -> bool:
        """Returns whether the control plane or an earlier claim has checked the job's files."""
        return self.job.total_steps is not None

    def unit(self) -> RunUnitOfWork:
        """Returns a fenced transaction. Raises `LeaseLost` once a newer claim exists."""
        return self.database.run(self.job.project_id, self.job.id, self.fence)

    async def in_unit(self, work: Callable[[RunUnitOfWork], Awaitable[R]]) -> R:
        return await in_unit(self.unit, work)

    def step_key(self, step: int) -> str:
        """The prefix of the objects this claim writes for a step; no two claims share one."""
        return f"{self.job_key}/step-{step:06d}-f{self.fence}"

    @property
    def job_key(self) -> str:
        return f"projects/{self.job.project_id}/jobs/{self.job.id}"

    def step(self, step: int) -> JobDirectories:
        path = self.scratch / f"step-{step:06d}"
        return JobDirectories(self.objects, self.step_key(step), path)

    def notes(self, name: str) -> JobDirectories:
        """Directories that any claim of the job may have written, needed until the job ends."""
        return JobDirectories(self.objects, f"{self.job_key}/{name}", self.scratch / name)

    @property
    def adapters(self) -> AdapterCache:
        """Adapters of tuned models that the run calls, e.g. as judges."""
        return build_adapter_cache(self.settings, self.objects)


_RUNS: Final = "runs"
_LOCK: Final = ".lock"


@contextmanager
def claim_scratch(work_dir: Path, job_id: str, fence: int) -> Iterator[Path]:
    runs = work_dir / _RUNS
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    for leftover in runs.iterdir():
        _remove_unless_locked(leftover)
    new, directory = runs / f".{uuid4().hex}", runs / f"{job_id}-f{fence}"
    new.mkdir(mode=0o700)
    try:
        with (new / _LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the kernel gives it back when the process crashes
            new.rename(directory)
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _remove_unless_locked(directory: Path) -> None:
    """Removes the directory of a killed process. A directory gets its name once it is locked."""
    if directory.name.startswith("."):
        return
    with suppress(FileNotFoundError, BlockingIOError), (directory / _LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)


Entry = tuple[str, str, dict[str, Any]]


class PostgresJournal:
    def __init__(self, unit: Callable[[], RunUnitOfWork], *, job_id: str, step: int) -> None:
        self._unit = unit
        self._job_id = job_id
        self._step = step
        self._known: dict[str, tuple[str, dict[str, Any]]] = {}
        self._waiting: list[tuple[Entry, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self.replayed = 0

    async def load(self) -> None:
        self._known = await in_unit(
            self._unit, lambda unit: unit.journal.get_many(self._job_id, self._step)
        )

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        entry = self._known.get(key)
        if entry is None or entry[0] != request_sha256:
            return None
        self.replayed += 1
        return entry[1]

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(((key, request_sha256, payload), durable))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        await durable

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                entries = [entry for entry, _ in batch]
                await retry_while_unavailable(partial(self._write, entries))
            except BaseException as error:
                for _, durable in batch:
                    if not durable.done():
                        durable.set_exception(error)
                if not isinstance(error, Exception):
                    raise
                continue
            for _, durable in batch:
                if not durable.done():
                    durable.set_result(None)

    async def _write(self, entries: list[Entry]) -> None:
        async with self._unit() as unit:
            await unit.journal.put_many(self._job_id, self._step, entries)
        PROGRESS.mark(f"answers of step {self._step} stored")
