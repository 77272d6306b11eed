"""The deadline of a client for taking bytes of its reply.

Promises that a client whose kernel acknowledges some bytes within the deadline, however few, keeps
its connection, and that any other connection ends at most one check (a twelfth of the deadline)
after the deadline and frees all of its resources. A kernel acknowledges in lumps of up to its
receive buffer: a program that reads 1 kB/s from a buffer of 128 kB shows no sign for 128 s, like
one that has stopped. The deadline is therefore a lower bound of the rate: one receive buffer per
deadline. Must not know HTTP.
"""

import asyncio
import fcntl
import socket
import struct
import sys
import termios
from typing import Final

import structlog

log = structlog.get_logger()

CHECKS: Final = 12
"""Checks without progress after which the connection ends; so many fill the deadline."""
_UNSENT_BYTES: Final = 64 * 1024
_RESET: Final = struct.pack("ii", 1, 0)
"""Value of `SO_LINGER`: a close drops what was not sent instead of waiting for the client."""


class ReaderDeadline:
    """Watches one connection from `begin` to `end`."""

    def __init__(self, transport: asyncio.Transport, *, seconds: float) -> None:
        self._transport = transport
        self._connection = transport.get_extra_info("socket")
        self._interval_s = seconds / CHECKS
        self._unread_bytes = 0
        self._silent_checks = 0
        self._timer: asyncio.TimerHandle | None = None
        # Any byte in this process counts as waiting, and the kernel takes few before it sends them.
        transport.set_write_buffer_limits(high=0)
        if sys.platform == "linux" and self._connection.family in (
            socket.AF_INET,
            socket.AF_INET6,
        ):
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)

    @property
    def unread_bytes(self) -> int:
        """Returns the bytes that the client has not acknowledged."""
        waiting = self._transport.get_write_buffer_size()
        if sys.platform != "linux":
            return waiting
        queued = fcntl.ioctl(self._connection.fileno(), termios.TIOCOUTQ, bytes(4))
        return waiting + int(struct.unpack("i", queued)[0])

    def begin(self) -> None:
        """Restarts the deadline."""
        self.end()
        self._unread_bytes = self.unread_bytes
        self._silent_checks = 0
        self._await_check()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def check(self) -> None:
        """Restarts the deadline if the client took bytes since the last check; aborts after
        `CHECKS` checks without any.
        """
        if self.unread_bytes < self._unread_bytes:
            self.begin()
            return
        self._silent_checks += 1
        if self._silent_checks < CHECKS:
            self._await_check()
            return
        self.end()
        log.warning("client does not read its reply", unread_bytes=self._unread_bytes)
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def _await_check(self) -> None:
        self.end()
        self._timer = asyncio.get_running_loop().call_later(self._interval_s, self.check)
