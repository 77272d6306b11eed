"""One program from its start to its end: deadline, bounds of what it writes, the kill.

Promises: the process is gone when this returns, however it ended; what it wrote is bounded, and is
passed on unread. The time of a program counts from the moment it is sent, not from its wait for a
slot.
"""

import asyncio
import signal
import socket
import time
from contextlib import suppress
from typing import Final

from app.domain.sandbox import MAX_REPLY, End, Ending
from app.gateways.sandbox.frames import pack
from workers.sandbox.zygote import READY
from workers.sandbox.zygotes import Forked, Zygote

_CHUNK: Final = 65_536
_PREPARED_S: Final = 30.0
"""A process applies its layers in milliseconds, unless the machine has no processor time left."""
_ENDED_S: Final = 30.0
_SIGNALS: Final = {
    signal.SIGKILL: "it was killed, by its limit of processor time or for want of memory",
    signal.SIGSEGV: "it crashed (SIGSEGV), as too deep a recursion does",
    signal.SIGABRT: "it aborted (SIGABRT)",
}


class ExecutionFailed(Exception):
    """The sandbox failed, and no program is to blame. The text is for operators and callers."""


async def execute(zygote: Zygote, slot: int, program: bytes, *, limit_s: float) -> Ending:
    """Raises `ExecutionFailed`."""
    try:
        async with asyncio.timeout(_PREPARED_S):
            forked = await zygote.fork(slot)
    except (OSError, EOFError, TimeoutError) as error:
        raise ExecutionFailed("could not start a process") from error
    try:
        return await _attended(forked, program, limit_s)
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(forked.handle, signal.SIGKILL)
        forked.close()


async def _attended(forked: Forked, program: bytes, limit_s: float) -> Ending:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_PREPARED_S):
            ready = await loop.sock_recv(forked.channel, len(READY))
    except (OSError, TimeoutError):
        ready = b""
    if ready != READY:
        raise ExecutionFailed("could not confine a process; its log has the layer")
    started = time.monotonic()
    reply, in_time = b"", True
    try:
        async with asyncio.timeout(limit_s):
            reply = await _exchange(forked.channel, program)
    except TimeoutError:
        in_time = False
    elapsed_s = time.monotonic() - started
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(forked.handle, signal.SIGKILL)
    code = await _exit_code(forked.status)
    if not in_time:
        return _failed("time_limit", f"no result within {limit_s:g} s", elapsed_s)
    if code is None:
        raise ExecutionFailed("lost a process, because its parent died")
    return _ending(reply, code, elapsed_s)


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


async def _exit_code(status: socket.socket) -> int | None:
    """Returns the code that the keeper tells, `None` if the keeper died."""
    with suppress(OSError, ValueError, TimeoutError):
        async with asyncio.timeout(_ENDED_S):
            return int(await asyncio.get_running_loop().sock_recv(status, 16))
    return None


def _ending(reply: bytes, code: int, elapsed_s: float) -> Ending:
    if len(reply) > MAX_REPLY:
        return _failed("output_limit", f"a result of more than {MAX_REPLY} bytes", elapsed_s)
    if not reply:
        return _failed("crashed", _crash(code), elapsed_s)
    return Ending("replied", reply.decode(errors="replace"), "", elapsed_s)


def _failed(how: End, detail: str, elapsed_s: float) -> Ending:
    return Ending(how, "", detail, elapsed_s)


def _crash(code: int) -> str:
    if code >= 0:
        return f"it ended without a result, with the exit code {code}"
    with suppress(ValueError):
        number = signal.Signals(-code)
        return _SIGNALS.get(number, f"it ended by {number.name}")
    return f"it ended by the signal {-code}"
