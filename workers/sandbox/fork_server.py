"""The fork server: imports the modules once and forks a process for each program.

`workers.sandbox.execution` starts it with a socket as standard input and an empty environment. It
never reads a program, so its forks contain no data of any other program. It has one thread, because
a fork copies one thread only.
"""

import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import Any, Final

from app.kit.processes import keep_priority, signal_at_parent_end
from app.tools.programs import LAYERS, MAX_PROGRAM
from workers.sandbox import kernel as namespaces
from workers.sandbox import program
from workers.sandbox.layers import Protection, available
from workers.sandbox.program import preload, reseed

CHANNEL: Final = 3
"""The only descriptor of a program's process."""
READY: Final = b"\x01"
"""The message of a program's process when its layers are applied, before it reads the program."""
_LENGTH: Final = struct.Struct(">I")
_CHUNK: Final = 65_536
_OPEN_FILES: Final = 64


def main() -> int:
    options = json.loads(sys.argv[1])
    signal_at_parent_end(signal.SIGKILL)
    # A program's process closes each number up to this limit; of a million that takes long.
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    line = socket.socket(fileno=os.dup(0))
    try:
        modules = preload(options["modules"])
    except ImportError as error:
        line.send(json.dumps({"failure": f"a module of the settings: {error}"}).encode())
        return 1
    protection = _protection(options)
    if "namespaces" in protection.layers:
        namespaces.enter_namespaces()
    layers = [layer for layer in LAYERS if layer in protection.layers]
    os.environ.clear()
    gc.collect()
    gc.freeze()  # a collection in a child would copy the pages of everything it looks at
    line.send(json.dumps({"layers": layers, "modules": modules}).encode())
    _serve(line, protection)
    return 0


def _protection(options: dict[str, Any]) -> Protection:
    layers = available(frozenset(options["without"]), first_uid=options["first_uid"])
    return Protection(
        layers=layers,
        memory_bytes=_address_space() + options["memory_bytes"],
        seconds=options["seconds"],
        first_uid=options["first_uid"],
    )


def _address_space() -> int:
    """Returns the bytes of this process's address space, the initial size of each fork."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - no pathlib in this small interpreter
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _serve(line: socket.socket, protection: Protection) -> None:
    """Forks a keeper for each request: a slot, with the program's channel and the keeper's own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers leave no zombies
    while True:
        request, descriptors, _, _ = socket.recv_fds(line, 64, 2)
        if not request:
            return
        if os.fork() == 0:
            try:
                line.close()
                _keep(int(request), protection, *descriptors)
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(slot: int, protection: Protection, channel: int, status: int) -> None:
    """Forks the program's process, reports it to the runner, waits for its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal_at_parent_end(signal.SIGKILL)
    if "namespaces" in protection.layers:
        namespaces.enter_for_one()
    pid = os.fork()
    if pid == 0:
        try:
            _become_program(slot, protection, channel)
        finally:
            os._exit(1)
    os.close(channel)
    with socket.socket(fileno=status) as report:
        socket.send_fds(report, [b"forked"], [os.pidfd_open(pid)])
        report.send(json.dumps(_end_of(pid)).encode())
    os._exit(0)


def _end_of(pid: int) -> dict[str, float]:
    _, status, used = os.wait4(pid, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "processor_s": used.ru_utime + used.ru_stime,
        "memory_bytes": 1024 * used.ru_maxrss,
    }


def _become_program(slot: int, protection: Protection, channel: int) -> None:
    os.setsid()
    keep_priority()
    _keep_only(channel)
    try:
        protection.confine(slot)
    except BaseException as error:
        os.write(2, f"a layer could not be applied: {error!r}\n".encode())
        raise
    os.close(2)
    os.write(CHANNEL, READY)
    try:
        reseed()
        received = _read_program()
        reply = b"" if received is None else program.answer(received)
    except MemoryError:  # too little is left to describe it
        reply = program.OUT_OF_MEMORY
    _write(reply)
    os._exit(0)


def _keep_only(channel: int) -> None:
    if channel != CHANNEL:
        os.dup2(channel, CHANNEL)
    os.closerange(0, 2)
    os.closerange(CHANNEL + 1, os.sysconf("SC_OPEN_MAX"))


def _read_program() -> bytes | None:
    """Reads a program; returns `None` if the runner has closed the channel."""
    head = _read(_LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    return _read(length) if length <= MAX_PROGRAM else None


def _read(length: int) -> bytes | None:
    parts, left = [], length
    while left:
        part = os.read(CHANNEL, min(left, _CHUNK))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _write(reply: bytes) -> None:
    view = memoryview(reply)
    with suppress(OSError):  # the runner has read enough, or the code has closed the channel
        while view:
            view = view[os.write(CHANNEL, view) :]


if __name__ == "__main__":
    sys.exit(main())
