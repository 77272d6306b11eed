"""Starts the fork server for the runner, and requests processes from it."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import workers
from app.domain.processes.interpreters import running_module
from app.domain.sandbox.layers import Layer, ProtectionLevel

_START_S: Final = 120.0
"""Seconds in which the fork server must start: it may import from a cold disk."""
_MAX_REPORT: Final = 65_536


class ForkServerFailed(Exception):
    """The fork server did not start. The text is for operators."""


@dataclass(frozen=True, slots=True)
class ForkServerOptions:
    modules: tuple[str, ...]
    without: tuple[Layer, ...]
    """Layers that are left out."""
    memory_bytes: int
    seconds: float
    first_uid: int

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True)
class IdleFork:
    """A process that waits for its program."""

    handle: int
    """A pidfd, which never means another process."""
    channel: socket.socket
    status: socket.socket

    def waited_s(self) -> float:
        """Returns the seconds for which the process was runnable without a processor, as the kernel
        counts them; 0 if the kernel does not count them or the process has ended.
        """
        try:
            text = Path(f"/proc/self/fdinfo/{self.handle}").read_text(encoding="ascii")
            pid = re.search(r"^Pid:\s*(\d+)$", text, re.MULTILINE)
            if pid is None:
                return 0.0
            schedule = Path(f"/proc/{pid[1]}/schedstat").read_text(encoding="ascii")
            return int(schedule.split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    async def end(self) -> None:
        """Waits until the process is gone."""
        await _ready(self.handle)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def close(self) -> None:
        os.close(self.handle)
        self.channel.close()
        self.status.close()


class ProgramForkServer:
    def __init__(
        self, process: subprocess.Popen[bytes], line: socket.socket, level: ProtectionLevel
    ) -> None:
        self._process = process
        self._line = line
        self._sending = asyncio.Lock()
        self.level = level

    @classmethod
    async def start(cls, options: ForkServerOptions) -> Self:
        """Raises `ForkServerFailed`. To be called on the main thread: the kernel ends the fork
        server with the thread that started it.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program; it starts in milliseconds
                running_module("workers.sandbox.fork_server", options.to_json()),
                stdin=theirs.fileno(),
                env=_environment(),
                cwd=Path(next(iter(workers.__path__))).parent,
                start_new_session=True,
            )
        ours.setblocking(False)
        try:
            async with asyncio.timeout(_START_S):
                report = await asyncio.get_running_loop().sock_recv(ours, _MAX_REPORT)
        except TimeoutError:
            report = b""
        values: dict[str, Any] = json.loads(report or b"{}")
        if "layers" not in values:
            process.kill()
            process.wait()
            ours.close()
            raise ForkServerFailed(
                values.get("failure", "the interpreter for programs did not start")
            )
        return cls(
            process, ours, ProtectionLevel(tuple(values["layers"]), tuple(values["modules"]))
        )

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    async def fork(self, slot: int) -> IdleFork:
        """Returns a process for a slot's next program. Raises `OSError`, `EOFError`."""
        channel, theirs = socket.socketpair()
        status, keepers = socket.socketpair()
        channel.setblocking(False)
        status.setblocking(False)
        try:
            with theirs, keepers:
                await self._send(slot, [theirs.fileno(), keepers.fileno()])
            await _ready(status)
            return IdleFork(_handle(status), channel, status)
        except BaseException:
            channel.close()
            status.close()
            raise

    async def _send(self, slot: int, descriptors: list[int]) -> None:
        async with self._sending:
            await _ready(self._line, to_write=True)
            socket.send_fds(self._line, [str(slot).encode()], descriptors)

    def kill(self) -> None:
        """Ends the fork server, and with it all that it forked."""
        self._process.kill()

    def close(self) -> None:
        self._line.close()
        self.kill()
        self._process.wait()


def _environment() -> dict[str, str]:
    """Returns the whole environment of the fork server, which contains no secret.

    BLAS gets one thread, because a fork copies only one; hashes get a fixed seed, so that sets have
    the same order after a restart.
    """
    return {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }


def _handle(status: socket.socket) -> int:
    _, handles, _, _ = socket.recv_fds(status, 16, 1)
    if not handles:
        raise EOFError
    return handles[0]


async def _ready(end: socket.socket | int, *, to_write: bool = False) -> None:
    """Waits until a descriptor can be read, or written. `sock_recv` could not take descriptors."""
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    add, remove = (
        (loop.add_writer, loop.remove_writer) if to_write else (loop.add_reader, loop.remove_reader)
    )
    add(end, wake)
    try:
        await woken
    finally:
        remove(end)
