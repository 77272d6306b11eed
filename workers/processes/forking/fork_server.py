"""The program that forks child processes from a process that has imported their modules.

`python -m workers.processes.forking.fork_server MODULE…` imports the modules and serves the
requests of `workers.processes.forking.forks` from its standard input, a socket. Imports of torch,
transformers and peft take seconds of processor time; a fork takes milliseconds and shares their
memory.

The process has one thread and computes nothing, because a fork copies one thread only and a CUDA
context does not survive it.
"""

import gc
import importlib
import os
import runpy
import select
import shlex
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from setproctitle import setproctitle

from app.kit.processes import keep_priority, signal_at_parent_end
from workers.processes.forking.forks import Request, receive


def leave_server(server: int, statuses: Iterable[socket.socket]) -> None:
    """Leaves the server's session, signals and sockets."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    keep_priority()
    signal_at_parent_end(signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)  # the server ended before the request for its signal
    for status in statuses:
        status.close()


def run(request: Request) -> int:
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


_LONGEST_FAULT: Final = 500


def main() -> int:
    # `torch.cuda.is_available` makes forks useless for CUDA, unless it asks the driver's library.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    # Not descriptor 0 itself, which becomes a child's standard input.
    line = socket.socket(fileno=os.dup(0))
    try:
        for name in sys.argv[1:]:
            importlib.import_module(name)
    except Exception as error:
        _report_fault(line, error)
        raise
    gc.collect()
    gc.freeze()  # a collection in a child would copy the pages of everything it looks at
    request = _serve(line)
    return 0 if request is None else run(request)


def _report_fault(line: socket.socket, error: Exception) -> None:
    """Answers with the reason why no child can start; later requests go to another server."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_FAULT]
    request = receive(line)
    line.shutdown(socket.SHUT_RD)
    while request is not None:
        with request.status as status, suppress(OSError):  # the requester has stopped waiting
            status.send(f"fault {reason}\n".encode())
        request = receive(line)


def _serve(line: socket.socket) -> Request | None:
    """`None` at the end of the socket, and the request in a forked child."""
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
                request = receive(line)
                if request is None:
                    return None
                pid = os.fork()
                if pid == 0:
                    leave_server(server, statuses.values())
                    return request
                for stream in request.streams:
                    os.close(stream)
                statuses[pid] = request.status


def _report_ended(statuses: dict[int, socket.socket]) -> None:
    for pid in list(statuses):
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            with (
                statuses.pop(pid) as status,
                suppress(OSError),
            ):  # the requester has stopped waiting
                status.send(f"exit {os.waitstatus_to_exitcode(code)}\n".encode())


if __name__ == "__main__":
    sys.exit(main())
