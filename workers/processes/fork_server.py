"""The program that forks child processes from a process that has imported their modules.

`python -m workers.processes.fork_server MODULE…` imports the modules and serves the requests of
`workers.processes.forks` from its standard input, a socket. Imports of torch, transformers and peft
take seconds of processor time; a fork takes milliseconds and shares their memory.

The process has one thread and computes nothing, because a fork copies one thread only and a CUDA
context does not survive it. A child runs one command line, as `python` would, in a session of its
own. It is killed when this process ends, which ends with its parent.
"""

import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import shlex
import signal
import socket
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NamedTuple

from setproctitle import setproctitle

HEADER: Final = struct.Struct("!I")
"""Length of a request's body: JSON with `arguments` and `environment`. The header comes with four
descriptors: the child's status line, and its standard input, output and error.
"""
_DESCRIPTORS: Final = 4
_PR_SET_PDEATHSIG: Final = 1


class Request(NamedTuple):
    arguments: list[str]
    """`-m MODULE …` or `-c CODE …`."""
    environment: dict[str, str]
    status: socket.socket
    """Gets `pid N` once the child runs, and `exit CODE` after its end, as `subprocess` gives it."""
    streams: list[int]


def main() -> int:
    # `torch.cuda.is_available` makes forks useless for CUDA, unless it asks the driver's library.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    # Not descriptor 0 itself, which becomes a child's standard input.
    line = socket.socket(fileno=os.dup(0))
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a child would copy the pages of everything it looks at
    request = _serve(line)
    return 0 if request is None else _run(request)


def _serve(line: socket.socket) -> Request | None:
    """Forks a child for each request. Returns `None` at the end of the line, and the request in a
    forked child.
    """
    server, statuses = os.getpid(), dict[int, socket.socket]()
    woken, waker = socket.socketpair()
    with line, woken, waker:
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno())
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        while True:
            ready, _, _ = select.select([line, woken], [], [])
            if woken in ready:
                woken.recv(4096)
                _report_ended(statuses)
            if line in ready:
                request = _receive(line)
                if request is None:
                    return None
                pid = os.fork()
                if pid == 0:
                    _become_child(server, statuses.values())
                    return request
                for stream in request.streams:
                    os.close(stream)
                statuses[pid] = request.status


def _receive(line: socket.socket) -> Request | None:
    """Returns the next request, or `None` at the end of the line."""
    header, descriptors, _, _ = socket.recv_fds(line, HEADER.size, _DESCRIPTORS)
    if len(header) < HEADER.size or len(descriptors) < _DESCRIPTORS:
        return None
    (size,) = HEADER.unpack(header)
    body = bytearray()
    while len(body) < size:
        read = line.recv(size - len(body))
        if not read:
            return None
        body += read
    sent = json.loads(body)
    status, *streams = descriptors
    return Request(
        sent["arguments"], sent["environment"], socket.socket(fileno=status), list(streams)
    )


def _report_ended(statuses: dict[int, socket.socket]) -> None:
    """Sends the exit code of each child that has ended."""
    for pid in list(statuses):
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            with statuses.pop(pid) as status, suppress(OSError):  # nobody waits for it any longer
                status.send(f"exit {os.waitstatus_to_exitcode(code)}\n".encode())


def _become_child(server: int, statuses: Iterable[socket.socket]) -> None:
    """Leaves the server's session, signals and sockets."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)  # the server ended before the request for its signal
    for status in statuses:
        status.close()


def _run(request: Request) -> int:
    """Runs a child's command line. Returns its exit code."""
    with request.status as status:
        for target, stream in enumerate(request.streams):
            os.dup2(stream, target)
            os.close(stream)
        # The title goes first: its place is found by the environment that the process began with.
        setproctitle(shlex.join((sys.executable, *request.arguments)))
        os.environ.clear()
        os.environ.update(request.environment)
        with suppress(OSError):  # the parent has ended, which the child will notice
            status.send(f"pid {os.getpid()}\n".encode())
    option, program, *rest = request.arguments
    sys.argv = [option, *rest]
    if option == "-c":
        exec(program, {"__name__": "__main__"})  # noqa: S102 - the command line of our own parent
    else:
        sys.modules.pop(program, None)
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
