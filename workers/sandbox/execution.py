"""Executes one program: keeps its deadline, bounds its output, kills it. The time of a program
counts from the moment it is sent, not from its wait for a slot, and without its waits for a
processor, which other programs cause.
"""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import workers
from app.kit.processes import running_module
from app.tools.programs import MAX_REPLY, End, Layer, ProgramOutcome, ProtectionLevel
from app.tools.sandbox import pack
from workers.sandbox.fork_server import READY
from workers.sandbox.kernel import processor_limit_s

_START_S: Final = 120.0
_MAX_REPORT: Final = 65_536


class ForkServerFailed(Exception):
    """The fork server did not start. The text is for operators."""


@dataclass(frozen=True, slots=True)
class ForkServerOptions:
    modules: tuple[str, ...]
    without: tuple[Layer, ...]
    memory_bytes: int
    seconds: float
    first_uid: int

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True)
class IdleFork:
    handle: int
    channel: socket.socket
    status: socket.socket

    def waited_s(self) -> float:
        """As the kernel counts; 0 if it does not, or the process has ended."""
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
        self._process.kill()

    def close(self) -> None:
        self._line.close()
        self.kill()
        self._process.wait()


def _environment() -> dict[str, str]:
    """Without any secret. BLAS has one thread (a fork copies one), hashes a fixed seed."""
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


_CHUNK: Final = 65_536
PREPARED_S: Final = 30.0
"""To apply layers takes milliseconds, unless the machine has no processor time left."""
_BUSY: Final = 6
"""Largest ratio of a program's wall time to its limit, when it has to wait for a processor."""
_LOOK_S: Final = 0.02
_ENDED_S: Final = 30.0
_LEAVES_S: Final = 1.0
"""In which a process that closed its channel ends; one that exits is gone at once."""
_SIGNALS: Final = {
    signal.SIGSEGV: "it crashed (SIGSEGV), as too deep a recursion does",
    signal.SIGABRT: "it aborted (SIGABRT), as a library does that gets no more memory",
    signal.SIGSYS: "it called the kernel by another architecture's numbers (SIGSYS)",
}


class ExecutionFailed(Exception):
    """The sandbox itself failed, not a program. The text is for operators and callers."""


class ForkServerHangs(ExecutionFailed):
    """The fork server runs, but forks no process."""


@dataclass(frozen=True, slots=True)
class _ProgramExit:
    code: int
    processor_s: float
    memory_bytes: int


async def execute(
    fork_server: ProgramForkServer, slot: int, program: bytes, *, limit_s: float, prepared_s: float
) -> ProgramOutcome:
    try:
        async with asyncio.timeout(prepared_s):
            forked = await fork_server.fork(slot)
    except TimeoutError as error:
        raise ForkServerHangs(f"started no process within {prepared_s:g} s") from error
    except (OSError, EOFError) as error:
        raise ExecutionFailed("could not start a process") from error
    try:
        return await _attended(forked, program, limit_s=limit_s, prepared_s=prepared_s)
    finally:
        forked.kill()
        forked.close()


async def _attended(
    forked: IdleFork, program: bytes, *, limit_s: float, prepared_s: float
) -> ProgramOutcome:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(prepared_s):
            ready = await loop.sock_recv(forked.channel, len(READY))
    except (OSError, TimeoutError):
        ready = b""
    if ready != READY:
        raise ExecutionFailed("could not confine a process; its log has the layer")
    started = time.monotonic()
    in_time, left = True, True
    reply = await _in_fair_time(forked, program, limit_s=limit_s)
    if reply is None:
        reply, in_time = b"", False
    elapsed_s = time.monotonic() - started
    if in_time and not reply:
        left = await _leaves(forked)
    forked.kill()
    ended = await _exit_of(forked.status)
    if not in_time:
        return _failed("time_limit", f"no result within {limit_s:g} s", elapsed_s)
    if ended is None:
        raise ExecutionFailed("lost a process, because its parent crashed")
    if len(reply) > MAX_REPLY:
        return _failed("output_limit", f"a result of more than {MAX_REPLY} bytes", elapsed_s)
    if reply:
        return ProgramOutcome("replied", reply.decode(errors="replace"), "", elapsed_s)
    return _without_reply(ended, limit_s=limit_s, left=left, elapsed_s=elapsed_s)


@dataclass(slots=True)
class FairClock:
    """Measures the time that a program has left; its waits for a processor do not count."""

    limit_s: float
    _waited_s: float = 0.0

    def left_s(self, *, elapsed_s: float, waited_s: float) -> float:
        """0 or fewer at the limit. Raises `ExecutionFailed` on a machine too busy to give them."""
        self._waited_s = max(self._waited_s, waited_s)  # none is known once the process is gone
        left_s = self.limit_s - elapsed_s + self._waited_s
        if left_s > 0 and elapsed_s >= _BUSY * self.limit_s:
            raise ExecutionFailed(
                f"is busy: within {elapsed_s:.0f} s a program had too little of a processor"
            )
        return left_s


async def _in_fair_time(forked: IdleFork, program: bytes, *, limit_s: float) -> bytes | None:
    """`None` if there is no reply in time. Raises `ExecutionFailed` on a machine too busy."""
    started, before_s, clock = time.monotonic(), forked.waited_s(), FairClock(limit_s)
    exchange = asyncio.create_task(_exchange(forked.channel, program))
    try:
        while True:
            left_s = clock.left_s(
                elapsed_s=time.monotonic() - started, waited_s=forked.waited_s() - before_s
            )
            if left_s <= 0:
                return None
            if (await asyncio.wait({exchange}, timeout=max(left_s, _LOOK_S)))[0]:
                return exchange.result()
    finally:
        exchange.cancel()
        await asyncio.wait({exchange})  # nothing may read a channel that is closed


async def _exchange(channel: socket.socket, program: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    with suppress(OSError):  # it may close the channel, or end, before it has read all
        await loop.sock_sendall(channel, pack(program))
    parts, length = [], 0
    while length <= MAX_REPLY:
        try:
            part = await loop.sock_recv(channel, _CHUNK)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
        length += len(part)
    return b"".join(parts)


async def _leaves(forked: IdleFork) -> bool:
    """Returns whether a process that has closed its channel ends without a signal."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LEAVES_S):
            await forked.end()
            return True
    return False


async def _exit_of(status: socket.socket) -> _ProgramExit | None:
    with suppress(OSError, ValueError, TimeoutError):
        async with asyncio.timeout(_ENDED_S):
            return _ProgramExit(
                **json.loads(await asyncio.get_running_loop().sock_recv(status, 256))
            )
    return None


def _without_reply(
    ended: _ProgramExit, *, limit_s: float, left: bool, elapsed_s: float
) -> ProgramOutcome:
    """Names the limit that ended a program, as far as the kernel reports it."""
    if ended.code != -signal.SIGKILL:
        return _failed("crashed", _crash(ended.code), elapsed_s)
    if not left:
        text = "it closed the channel of its result and ran on"
        return _failed("crashed", text, elapsed_s)
    # The kernel applies its limit to whole ticks, and reports the exact time: they differ widely on
    # a busy machine.
    if ended.processor_s >= processor_limit_s(limit_s) / 2:
        text = f"no result within {limit_s:g} s of processor time"
        return _failed("time_limit", text, elapsed_s)
    held = ended.memory_bytes // 1024**2
    text = f"it was killed (SIGKILL) with {held} MiB of memory: this machine has no more to give"
    return _failed("crashed", text, elapsed_s)


def _failed(how: End, detail: str, elapsed_s: float) -> ProgramOutcome:
    return ProgramOutcome(how, "", detail, elapsed_s)


def _crash(code: int) -> str:
    if code >= 0:
        return f"it ended without a result, with the exit code {code}"
    with suppress(ValueError):
        number = signal.Signals(-code)
        return _SIGNALS.get(number, f"it ended without a result, by {number.name}")
    return f"it ended without a result, by the signal {-code}"
