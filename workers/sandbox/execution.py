"""Executes one program: keeps its deadline, bounds its output, kills it.

Promises: the process is gone when this returns, however it ended; what it wrote is bounded, and is
passed on unread. The time of a program counts from the moment it is sent, not from its wait for a
slot, and without its waits for a processor, which other programs cause.
"""

import asyncio
import json
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from app.domain.sandbox.programs import MAX_REPLY, End, ProgramOutcome
from app.gateways.sandbox.frames import pack
from workers.sandbox.fork_server import READY
from workers.sandbox.forks import IdleFork, ProgramForkServer
from workers.sandbox.privileges import processor_limit_s

_CHUNK: Final = 65_536
PREPARED_S: Final = 30.0
"""Longest time in which a process applies its layers: it takes milliseconds, unless the machine has
no processor time left.
"""
_BUSY: Final = 6
"""Largest ratio of a program's wall time to its limit, when it has to wait for a processor."""
_LOOK_S: Final = 0.02
_ENDED_S: Final = 30.0
_LEAVES_S: Final = 1.0
"""Seconds in which a process that has closed its channel ends; one that closes it by exiting is
gone at once.
"""
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
    """The end of a program's process, as its keeper reports it."""

    code: int
    """Exit code of the process; the negative number of a signal that ended it."""
    processor_s: float
    memory_bytes: int
    """Peak memory of the process."""


async def execute(
    fork_server: ProgramForkServer, slot: int, program: bytes, *, limit_s: float, prepared_s: float
) -> ProgramOutcome:
    """Runs a program and returns how it ended. Raises `ExecutionFailed`."""
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
        """Returns the seconds left, 0 or fewer once the limit is reached. Raises `ExecutionFailed`
        where the machine is too busy to give the program its seconds.
        """
        self._waited_s = max(self._waited_s, waited_s)  # none is known once the process is gone
        left_s = self.limit_s - elapsed_s + self._waited_s
        if left_s > 0 and elapsed_s >= _BUSY * self.limit_s:
            raise ExecutionFailed(
                f"is busy: within {elapsed_s:.0f} s a program had too little of a processor"
            )
        return left_s


async def _in_fair_time(forked: IdleFork, program: bytes, *, limit_s: float) -> bytes | None:
    """Returns the reply; `None` if there is none after `limit_s`, without the waits for a
    processor. Raises `ExecutionFailed` where the machine is too busy to give the program its
    seconds.
    """
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
    """Sends the program and reads until its process has closed the channel, or has written more
    than a reply may have.
    """
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
    """Returns the keeper's report; `None` if the keeper crashed."""
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
