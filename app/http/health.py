"""The state of the service's parts, as its readiness reports it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from app.database import Database
from app.jobs.jobs import StatusCount
from app.kit.directories import FreeSpace
from app.kit.errors import Unavailable
from app.kit.job_queue import CONTROL_QUEUE, RUNS_QUEUE, JobQueue
from app.models.engine import Inference
from app.tools.sandbox import SandboxUnavailable, SharedSandbox

PartName = Literal["database", "disk", "broker", "worker", "engine", "sandbox"]


@dataclass(frozen=True, slots=True)
class PartHealth:
    ok: bool
    problem: str | None = None
    """The fault, without addresses and paths: readiness needs no key."""
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    parts: dict[PartName, PartHealth]

    @property
    def ready(self) -> bool:
        return not self.missing

    @property
    def missing(self) -> list[PartName]:
        """The parts with a problem without which no request can be served. Without the others the
        API accepts jobs, which wait, and answers everything but calls of a model.
        """
        required: tuple[PartName, ...] = ("database", "disk")
        return [name for name in required if not self.parts[name].ok]

    @property
    def degraded(self) -> bool:
        return not all(part.ok for part in self.parts.values())


FRESH_S: Final = 5.0
"""Seconds for which the results of broker, worker and engine are reused."""
_PATIENCE_S: Final = 4.0


@dataclass(frozen=True, slots=True)
class HealthPorts:
    database: Database
    queue: JobQueue
    inference: Inference
    space: FreeSpace
    sandbox: SharedSandbox


class HealthService:
    def __init__(self, ports: HealthPorts, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ports = ports
        # Not the loop's own threads: they may all be busy with requests.
        self._disk_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="disk")
        self._checks: dict[PartName, Callable[[], Awaitable[PartHealth]]] = {
            "database": partial(_checked, self._check_database),
            "disk": partial(_checked, self._check_disk),
            "broker": _CachedHealth(self._check_broker, clock).part,
            "worker": _CachedHealth(self._check_workers, clock).part,
            "engine": _CachedHealth(self._check_engine, clock).part,
            "sandbox": _CachedHealth(self._check_sandbox, clock).part,
        }

    async def look(self) -> Health:
        parts = await asyncio.gather(*(check() for check in self._checks.values()))
        return Health(dict(zip(self._checks, parts, strict=True)))

    async def look_at_jobs_too(self) -> tuple[Health, list[StatusCount] | None]:
        health = await self.look()
        try:
            return health, await self._ports.database.status_counts()
        except Unavailable:
            return health, None

    async def _check_database(self) -> PartHealth:
        await self._ports.database.ping()
        return PartHealth(ok=True)

    async def _check_disk(self) -> PartHealth:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._disk_thread, self._ports.space.check)
        return PartHealth(ok=True)

    async def _check_broker(self) -> PartHealth:
        if await self._ports.queue.answers():
            return PartHealth(ok=True)
        return PartHealth(ok=False, problem="The broker does not answer; jobs start later.")

    async def _check_workers(self) -> PartHealth:
        attended = await self._ports.queue.attended()
        unattended = [name for name in (RUNS_QUEUE, CONTROL_QUEUE) if name not in attended]
        if not unattended:
            return PartHealth(ok=True)
        names = " and ".join(f"'{name}'" for name in unattended)
        return PartHealth(ok=False, problem=f"No worker answers for the queue {names}; work waits.")

    async def _check_engine(self) -> PartHealth:
        if await self._ports.inference.healthy():
            return PartHealth(ok=True)
        return PartHealth(ok=False, problem="The engine does not answer; no model can be called.")

    async def _check_sandbox(self) -> PartHealth:
        try:
            level = await self._ports.sandbox.level()
        except SandboxUnavailable as error:
            problem = f"The sandbox {error.problem}; graders that run code give no score."
            return PartHealth(ok=False, problem=problem)
        return PartHealth(ok=True, detail=f"layers: {level.names}")


async def _checked(check: Callable[[], Awaitable[PartHealth]]) -> PartHealth:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await check()
    except TimeoutError:
        return PartHealth(ok=False, problem="No answer in time.")
    except Unavailable as error:
        return PartHealth(ok=False, problem=error.message)


class _CachedHealth:
    def __init__(
        self, check: Callable[[], Awaitable[PartHealth]], clock: Callable[[], float]
    ) -> None:
        self._check, self._clock = check, clock
        self._lock = asyncio.Lock()
        self._kept: PartHealth | None = None
        self._until = 0.0

    async def part(self) -> PartHealth:
        async with self._lock:
            if self._kept is None or self._clock() >= self._until:
                self._kept = await _checked(self._check)
                self._until = self._clock() + FRESH_S
            return self._kept
