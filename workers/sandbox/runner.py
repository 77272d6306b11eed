"""The runner: answers on a Unix socket, gives each program a slot, keeps the zygote alive.

Promises: at most `parallel` programs run at once, the others wait unread; the level that it tells
holds for every program; a zygote that dies is started again and must reach the floor again.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import structlog

from app.domain.sandbox import MAX_PROGRAM, Layer, Level
from app.gateways.sandbox.frames import (
    MAX_HEADER,
    BadFrame,
    read_frame,
    read_object,
    socket_address,
    to_frame,
)
from app.settings.sandbox import SandboxSettings
from workers.sandbox.execution import ExecutionFailed, execute
from workers.sandbox.zygotes import Zygote, ZygoteFailed, ZygoteOptions

_log = structlog.get_logger()
_HEADER_S: Final = 30.0
_PROGRAM_S: Final = 10.0
_MODE: Final = 0o600


class BelowFloor(Exception):
    """Layers that the settings demand are missing on this machine."""

    def __init__(self, missing: list[Layer], level: Level) -> None:
        super().__init__(
            f"the sandbox would lack {', '.join(missing)} on this machine, which has "
            f"{level.names}: run it where the kernel has all, or lower AGENT_RFT_SANDBOX__FLOOR"
        )


class Runner:
    """`start` before `serve`."""

    def __init__(self, settings: SandboxSettings, *, without: tuple[Layer, ...] = ()) -> None:
        """`without`: layers that are left out, as a kernel without them would."""
        self._settings = settings
        self._options = ZygoteOptions(
            modules=settings.modules,
            without=without,
            memory_bytes=settings.memory_bytes,
            seconds=settings.time_limit_s,
            first_uid=settings.first_uid,
        )
        self._zygote: Zygote | None = None
        self._starting = asyncio.Lock()
        self._slots: asyncio.Queue[int] = asyncio.Queue()
        for slot in range(settings.parallel or max(4, 2 * (os.cpu_count() or 1))):
            self._slots.put_nowait(slot)

    async def start(self) -> Level:
        """Raises `BelowFloor` and `ZygoteFailed`."""
        return (await self._running()).level

    def close(self) -> None:
        """Ends every program that runs."""
        if self._zygote is not None:
            self._zygote.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection."""
        try:
            async with asyncio.timeout(_HEADER_S):
                header = await read_object(reader, limit=MAX_HEADER)
            answer = await self._answer(header.get("op"), reader)
            if answer is not None:
                writer.write(to_frame(answer))
                await writer.drain()
        except (BadFrame, OSError, TimeoutError) as error:
            _log.warning("sandbox_connection_ended", reason=str(error))
        finally:
            writer.close()

    async def _answer(self, asked: Any, reader: asyncio.StreamReader) -> dict[str, Any] | None:
        try:
            if asked == "level":
                return asdict((await self._running()).level)
            if asked == "run":
                return await self._run(reader)
        except (BelowFloor, ZygoteFailed, ExecutionFailed) as error:
            _log.error("sandbox_failed", reason=str(error))
            return {"failure": str(error)}
        raise BadFrame("a header without a known 'op'")

    async def _run(self, reader: asyncio.StreamReader) -> dict[str, Any] | None:
        """Returns `None` where the caller went away while it waited."""
        async with self._slot() as slot:
            async with asyncio.timeout(_PROGRAM_S):  # a frozen caller gives its slot back
                program = await read_frame(reader, limit=MAX_PROGRAM)
            if reader.at_eof():
                return None
            zygote = await self._running()
            ending = await execute(zygote, slot, program, limit_s=self._settings.time_limit_s)
        return asdict(ending)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[int]:
        slot = await self._slots.get()
        try:
            yield slot
        finally:
            self._slots.put_nowait(slot)

    async def _running(self) -> Zygote:
        async with self._starting:
            if self._zygote is not None and not self._zygote.runs:
                _log.warning("sandbox_zygote_ended")
                self._zygote.close()
                self._zygote = None
            if self._zygote is None:
                self._zygote = await self._new()
            return self._zygote

    async def _new(self) -> Zygote:
        zygote = await Zygote.start(self._options)
        missing = [layer for layer in self._settings.floor if layer not in zygote.level.layers]
        if missing:
            zygote.close()
            raise BelowFloor(missing, zygote.level)
        return zygote


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
