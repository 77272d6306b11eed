"""The runner: answers on a Unix socket, gives each program a slot, keeps the fork server alive.
Trusts its callers, API and workers, to name organization and project.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import structlog

from app.settings import SandboxSettings
from app.tools.programs import MAX_PROGRAM, Layer, ProtectionLevel
from app.tools.sandbox import (
    KEEP_ALIVE,
    KEEP_ALIVE_S,
    MAX_HEADER,
    BadFrame,
    read_frame,
    read_object,
    skip_frame,
    socket_address,
    to_frame,
)
from workers.sandbox.execution import (
    PREPARED_S,
    ExecutionFailed,
    ForkServerFailed,
    ForkServerHangs,
    ForkServerOptions,
    ProgramForkServer,
    execute,
)

_FEWEST: Final = 4
_PER_CORE: Final = 2


class NoSlot(Exception):
    """A program was not run, because too many of its project wait. The text is for callers."""


@dataclass(frozen=True, slots=True)
class HeldSlot:
    slot: int
    waited_s: float


@dataclass(slots=True)
class _Share:
    organization: str
    held: int = 0
    waiting: deque[asyncio.Future[int]] = field(default_factory=deque)


class Slots:
    def __init__(
        self, count: int, *, per_project: int, max_waiting: int, per_organization: int | None = None
    ) -> None:
        self._free = deque(range(count))
        self._per_project = per_project
        self._per_organization = count if per_organization is None else per_organization
        self._max_waiting = max_waiting
        self._shares = dict[str, _Share]()
        """The projects with a running or waiting program; among equals the first one is next."""
        self._held = dict[str, int]()
        """Slots of each organization in use; among equals the first one is next."""

    @asynccontextmanager
    async def hold(
        self, project: str, *, within_s: float, organization: str = ""
    ) -> AsyncIterator[HeldSlot]:
        """For the block. A project without `organization` is one of its own. Raises `NoSlot`."""
        started = time.monotonic()
        slot = await self._take(project, organization or project, within_s)
        try:
            yield HeldSlot(slot, time.monotonic() - started)
        finally:
            self._give_back(project, slot)

    async def _take(self, project: str, organization: str, within_s: float) -> int:
        share = self._shares.setdefault(project, _Share(organization))
        self._held.setdefault(share.organization, 0)
        if len(share.waiting) >= self._max_waiting:
            raise NoSlot(f"is full: {len(share.waiting)} programs of this project wait already")
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        share.waiting.append(waiter)
        self._grant()
        try:
            async with asyncio.timeout(within_s):
                return await waiter
        except BaseException as error:
            self._leave(project, waiter)
            if isinstance(error, TimeoutError):
                raise NoSlot(f"had no free slot within {within_s:g} s") from None
            raise

    def _leave(self, project: str, waiter: asyncio.Future[int]) -> None:
        """Ends the wait of a caller that disconnects, also when its slot has just been granted."""
        with suppress(ValueError):
            self._shares[project].waiting.remove(waiter)
        if waiter.done() and not waiter.cancelled():
            self._give_back(project, waiter.result())
        else:
            self._forget_idle(project)

    def _give_back(self, project: str, slot: int) -> None:
        share = self._shares.pop(project)
        share.held -= 1
        self._shares[project] = share  # behind all that wait
        self._held[share.organization] = self._held.pop(share.organization) - 1
        self._free.append(slot)
        self._forget_idle(project)
        self._grant()

    def _forget_idle(self, project: str) -> None:
        share = self._shares[project]
        if share.held or share.waiting:
            return
        del self._shares[project]
        if all(other.organization != share.organization for other in self._shares.values()):
            del self._held[share.organization]

    def _grant(self) -> None:
        while self._free and (project := self._next()) is not None:
            share = self._shares[project]
            waiter = share.waiting.popleft()
            if not waiter.done():
                share.held += 1
                self._held[share.organization] += 1
                waiter.set_result(self._free.popleft())

    def _next(self) -> str | None:
        rank = {organization: number for number, organization in enumerate(self._held)}
        able = [
            (self._held[share.organization], rank[share.organization], share.held, number, project)
            for number, (project, share) in enumerate(self._shares.items())
            if share.waiting
            and share.held < self._per_project
            and self._held[share.organization] < self._per_organization
        ]
        return min(able)[-1] if able else None


def slots_of(settings: SandboxSettings) -> Slots:
    """Returns the slots that the settings name, by default a number for the cores of this machine.
    One project gets at most three quarters of them, so that other projects find a free one; one
    organization at most seven eighths, because it can create any number of projects.
    """
    count = settings.parallel or max(_FEWEST, _PER_CORE * (os.cpu_count() or 1))
    per_project = settings.per_project or max(1, count - max(1, count // 4))
    per_organization = settings.per_organization or max(per_project, count - max(1, count // 8))
    return Slots(
        count,
        per_project=per_project,
        per_organization=per_organization,
        max_waiting=settings.max_waiting,
    )


log = structlog.get_logger()
_HEADER_S: Final = 30.0
_PROGRAM_S: Final = 10.0
_ANSWER_S: Final = 30.0
_MODE: Final = 0o600


class BelowFloor(Exception):
    """Layers that the settings demand are missing on this machine."""

    def __init__(self, missing: list[Layer], level: ProtectionLevel) -> None:
        super().__init__(
            f"the sandbox would lack {', '.join(missing)} on this machine, which has "
            f"{level.names}: run it where the kernel has all, or lower AGENT_RFT_SANDBOX__FLOOR"
        )


class Runner:
    def __init__(
        self,
        settings: SandboxSettings,
        *,
        without: tuple[Layer, ...] = (),
        prepared_s: float = PREPARED_S,
    ) -> None:
        self._settings = settings
        self._prepared_s = prepared_s
        self._options = ForkServerOptions(
            modules=settings.modules,
            without=without,
            memory_bytes=settings.memory_bytes,
            seconds=settings.time_limit_s,
            first_uid=settings.first_uid,
        )
        self._fork_server: ProgramForkServer | None = None
        self._starting = asyncio.Lock()
        self._slots = slots_of(settings)

    async def start(self) -> ProtectionLevel:
        return (await self._running()).level

    def close(self) -> None:
        if self._fork_server is not None:
            self._fork_server.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HEADER_S):
                header = await read_object(reader, limit=MAX_HEADER)
            answering = asyncio.create_task(self._answer(header, reader))
            try:
                # Until a task is done. Raises `OSError` if the caller disconnects.
                while not (await asyncio.wait({answering}, timeout=KEEP_ALIVE_S))[0]:
                    writer.write(to_frame(KEEP_ALIVE))
                    if writer.is_closing():
                        raise ConnectionResetError("the caller disconnected")
            finally:
                answering.cancel()  # the caller disconnected
            writer.write(to_frame(answering.result()))
            async with asyncio.timeout(_ANSWER_S):
                writer.close()
                await writer.wait_closed()  # until all is sent
        except (BadFrame, OSError) as error:
            log.warning("sandbox_connection_ended", reason=str(error) or type(error).__name__)
        finally:
            writer.transport.abort()

    async def _answer(self, header: dict[str, Any], reader: asyncio.StreamReader) -> dict[str, Any]:
        try:
            match header:
                case {"op": "ping"}:
                    return {}
                case {"op": "level"}:
                    return asdict((await self._running()).level)
                case {"op": "run", "project": str(project)}:
                    wait_s = self._wait_s(header.get("wait_s"))
                    organization = str(header.get("organization", ""))
                    return await self._run(reader, organization, project, wait_s=wait_s)
                case _:
                    raise BadFrame("a header without a known 'op'")
        except NoSlot as error:
            await skip_frame(reader, limit=MAX_PROGRAM)  # its caller reads when it has sent all
            return {"failure": str(error)}
        except (BelowFloor, ForkServerFailed, ExecutionFailed) as error:
            log.error("sandbox_failed", reason=str(error))  # noqa: TRY400 - its reason is enough
            return {"failure": str(error)}

    def _wait_s(self, requested: Any) -> float:
        limit_s = self._settings.wait_limit_s
        return min(requested, limit_s) if isinstance(requested, int | float) else limit_s

    async def _run(
        self, reader: asyncio.StreamReader, organization: str, project: str, *, wait_s: float
    ) -> dict[str, Any]:
        slots = self._slots.hold(project, organization=organization, within_s=wait_s)
        async with slots as held:
            async with asyncio.timeout(_PROGRAM_S):  # a frozen caller gives its slot back
                program = await read_frame(reader, limit=MAX_PROGRAM)
            if reader.at_eof():
                raise BadFrame("the caller disconnected while it waited")
            fork_server = await self._running()
            try:
                ending = await execute(
                    fork_server,
                    held.slot,
                    program,
                    limit_s=self._settings.time_limit_s,
                    prepared_s=self._prepared_s,
                )
            except ForkServerHangs:
                fork_server.kill()  # the next program starts another
                raise
        return asdict(replace(ending, waited_s=held.waited_s))

    async def _running(self) -> ProgramForkServer:
        async with self._starting:
            if self._fork_server is not None and not self._fork_server.runs:
                log.warning("sandbox_fork_server_ended")
                self._fork_server.close()
                self._fork_server = None
            if self._fork_server is None:
                self._fork_server = await self._new()
            return self._fork_server

    async def _new(self) -> ProgramForkServer:
        fork_server = await ProgramForkServer.start(self._options)
        missing = [layer for layer in self._settings.floor if layer not in fork_server.level.layers]
        if missing:
            fork_server.close()
            raise BelowFloor(missing, fork_server.level)
        return fork_server


@contextmanager
def _private_files() -> Iterator[None]:
    before = os.umask(0o777 & ~_MODE)
    try:
        yield
    finally:
        os.umask(before)


async def serve(runner: Runner, socket: Path) -> None:
    """Serves until it is cancelled. Only this process's user can connect."""
    with socket_address(socket) as address, _private_files():
        server = await asyncio.start_unix_server(runner.answer, address, backlog=1024)
    async with server:
        await server.serve_forever()
