"""The runner: answers on a Unix socket, gives each program a slot, keeps the fork server alive.

Promises: at most `parallel` programs run at once, the others wait unread, and organizations and
their projects share the slots; the reported level applies to every program; a fork server that
crashes or hangs is started again and must reach the floor again. Trusts its callers, API and
workers, to name organization and project.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import structlog

from app.domain.sandbox.layers import Layer, ProtectionLevel
from app.domain.sandbox.programs import MAX_PROGRAM
from app.gateways.sandbox.frames import (
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
from app.settings.sandbox import SandboxSettings
from workers.sandbox.execution import PREPARED_S, ExecutionFailed, ForkServerHangs, execute
from workers.sandbox.forks import ForkServerFailed, ForkServerOptions, ProgramForkServer
from workers.sandbox.slots import NoSlot, slots_of

_log = structlog.get_logger()
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
    """Runs programs for clients. Call `start` before `serve`."""

    def __init__(
        self,
        settings: SandboxSettings,
        *,
        without: tuple[Layer, ...] = (),
        prepared_s: float = PREPARED_S,
    ) -> None:
        """`without`: layers that are left out, as on a kernel without them. `prepared_s`: limit of
        a process's start.
        """
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
        """Raises `BelowFloor` and `ForkServerFailed`."""
        return (await self._running()).level

    def close(self) -> None:
        """Ends every running program."""
        if self._fork_server is not None:
            self._fork_server.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection."""
        try:
            async with asyncio.timeout(_HEADER_S):
                header = await read_object(reader, limit=MAX_HEADER)
            answering = asyncio.create_task(self._answer(header, reader))
            try:
                await _show_life(writer, until=answering)
            finally:
                answering.cancel()  # the caller disconnected
            writer.write(to_frame(answering.result()))
            async with asyncio.timeout(_ANSWER_S):
                writer.close()
                await writer.wait_closed()  # until all is sent
        except (BadFrame, OSError) as error:
            _log.warning("sandbox_connection_ended", reason=str(error) or type(error).__name__)
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
            _log.error("sandbox_failed", reason=str(error))
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
                _log.warning("sandbox_fork_server_ended")
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


async def _show_life(writer: asyncio.StreamWriter, *, until: asyncio.Task[Any]) -> None:
    """Sends keep-alives to a caller until a task is done. Raises `OSError` if the caller
    disconnects.
    """
    while not (await asyncio.wait({until}, timeout=KEEP_ALIVE_S))[0]:
        writer.write(to_frame(KEEP_ALIVE))
        if writer.is_closing():
            raise ConnectionResetError("the caller disconnected")


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
