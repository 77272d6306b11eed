"""The forked child: it leaves the fork server, and runs a command line as `python` would.

It runs in a session of its own and is killed when the server ends, which ends with its parent.
"""

import os
import runpy
import shlex
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress

from setproctitle import setproctitle

from app.parent_death import signal_at_parent_end
from app.processor_priority import keep_priority
from workers.processes.forking.fork_requests import Request


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
