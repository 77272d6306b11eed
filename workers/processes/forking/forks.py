"""Starts children whose modules are imported: a `fork_server` on Linux, else new interpreters."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGKILL, Signals
from typing import Final, NamedTuple

import structlog
from typing_extensions import override

from app.kit.processes import interpreter, running_module

log = structlog.get_logger()

_STDOUT: Final = 1
_KILLED: Final = -SIGKILL


class ChildProcess:
    """A child process in a session of its own. A thread waits for its end."""

    def __init__(self) -> None:
        self.started: Future[int] = _running()
        self.ended: Future[int] = _running()
        self.fault: str | None = None
        """The reason why it could not start, set when it has ended, if the fork server has one."""

    @property
    def returncode(self) -> int | None:
        return self.ended.result() if self.ended.done() else None

    @property
    def pid(self) -> int | None:
        return self.started.result() if self.started.done() else None

    def signal(self, number: Signals) -> None:
        """Sends a signal to the child and to all processes of its session; a child that has not
        started gets it after its start. SIGKILL for such a child ends the fork server with all of
        its children.
        """
        if self.ended.done():
            return
        if self.started.done():
            with suppress(ProcessLookupError):
                os.killpg(self.started.result(), number)
        else:
            self._signal_later(number)

    def _signal_later(self, number: Signals) -> None:
        raise NotImplementedError


class _Server(NamedTuple):
    process: subprocess.Popen[bytes]
    line: socket.socket


class ForkServer:
    """Starts with the first child, and again after a crash."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.modules = tuple(modules)
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def start(
        self,
        arguments: Sequence[str],
        *,
        stdin: int,
        stderr: int = 2,
        environment: Mapping[str, str] | None = None,
    ) -> ChildProcess:
        """`-m MODULE …` or `-c CODE …`. `stdin`, `stderr`: descriptors, which stay open here.
        `environment`: by default the one of this process.
        """
        body = encode(arguments, os.environ if environment is None else environment)
        ours, theirs = socket.socketpair()
        descriptors = [theirs.fileno(), stdin, _STDOUT, stderr]
        with theirs, self._lock:
            try:
                server = self._send(body, descriptors)
            except ConnectionError:  # it crashed at this moment
                self._end()
                server = self._send(body, descriptors)
        return ForkedProcess(ours, server.process)

    def _send(self, body: bytes, descriptors: list[int]) -> _Server:
        server = self._running()
        send(server.line, body, descriptors)
        return server

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._server is not None:
            self._server.line.close()
            self._server.process.wait()
        self._server = None

    def _running(self) -> _Server:
        """Returns a running server; its imports may still be in progress."""
        if self._server is not None:
            returncode = self._server.process.poll()
            if returncode is None:
                return self._server
            log.warning("fork server ended, another starts", returncode=returncode)
            self._server.line.close()
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own program
                running_module("workers.processes.forking.fork_server", *self.modules),
                stdin=theirs.fileno(),
                start_new_session=True,
            )
        self._server = _Server(process, ours)
        return self._server


class ForkedProcess(ChildProcess):
    def __init__(self, status: socket.socket, server: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self._server = server
        _in_a_thread(self._follow, status)

    def _follow(self, status: socket.socket) -> None:
        code = _KILLED  # a server that crashes reports nothing, and takes its children along
        with status, status.makefile() as lines:
            for line in lines:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "pid":
                    self.started.set_result(int(rest))
                elif word == "fault":
                    self.fault = rest
                else:
                    code = int(rest)
        self.ended.set_result(code)

    @override
    def _signal_later(self, number: Signals) -> None:
        if number == SIGKILL:
            # The caller has waited long enough: the server hangs.
            self._server.kill()
        else:  # it still imports, for other children too
            self.started.add_done_callback(lambda _: self.signal(number))


class Interpreters:
    modules: tuple[str, ...] = ()

    def start(
        self,
        arguments: Sequence[str],
        *,
        stdin: int,
        stderr: int = 2,
        environment: Mapping[str, str] | None = None,
    ) -> ChildProcess:
        return SpawnedProcess(
            subprocess.Popen(  # noqa: S603 - our own program
                interpreter(*arguments),
                stdin=stdin,
                stderr=stderr,
                env=environment,
                start_new_session=True,
            )
        )


class SpawnedProcess(ChildProcess):
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self.started.set_result(process.pid)
        _in_a_thread(lambda: self.ended.set_result(process.wait()))


Starter = ForkServer | Interpreters


def fork_server(*modules: str) -> Starter:
    """Returns the starter of children for this system; a fork server imports `modules`."""
    return ForkServer(modules) if sys.platform == "linux" else Interpreters()


def _running() -> Future[int]:
    future: Future[int] = Future()
    future.set_running_or_notify_cancel()
    return future


def _in_a_thread(follow: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=follow, args=arguments, name="child-status", daemon=True).start()


_HEADER: Final = struct.Struct("!I")
_DESCRIPTORS: Final = 4


class Request(NamedTuple):
    arguments: list[str]
    environment: dict[str, str]
    status: socket.socket
    """Gets `pid N` once the child runs, and `exit CODE` after its end, as `subprocess` gives it; or
    `fault REASON` if it cannot start."""
    streams: list[int]


def encode(arguments: Sequence[str], environment: Mapping[str, str]) -> bytes:
    return json.dumps({"arguments": [*arguments], "environment": {**environment}}).encode()


def send(line: socket.socket, body: bytes, descriptors: Sequence[int]) -> None:
    socket.send_fds(line, [_HEADER.pack(len(body))], descriptors)
    line.sendall(body)


def receive(line: socket.socket) -> Request | None:
    header, descriptors, _, _ = socket.recv_fds(line, _HEADER.size, _DESCRIPTORS)
    if len(header) < _HEADER.size or len(descriptors) < _DESCRIPTORS:
        return None
    (size,) = _HEADER.unpack(header)
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


@dataclass(slots=True)
class TaskChild:
    """A child process, which ends with the process that started it: see `parent_watch`."""

    process: ChildProcess
    line: socket.socket
    project_id: str | None
    started_at: float = field(default_factory=time.monotonic)
    is_ending: bool = False

    def terminate(self) -> None:
        self.is_ending = True
        self.process.signal(signal.SIGTERM)

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.started_at


class Children:
    def __init__(self, limit: int, starter: Starter) -> None:
        self._limit = limit
        self._starter = starter
        self._started: list[TaskChild] = []

    @property
    def running(self) -> list[TaskChild]:
        self._started = [child for child in self._started if child.process.returncode is None]
        return self._started

    @property
    def is_full(self) -> bool:
        return len(self.running) >= self._limit

    def start(self, arguments: Sequence[str], *, project_id: str | None = None) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            process = self._starter.start(arguments, stdin=theirs.fileno())
        process.ended.add_done_callback(lambda _: ours.close())
        self._started.append(TaskChild(process, ours, project_id))
