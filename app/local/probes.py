"""Finds the reason for a failed start in vLLM's log.

vLLM starts nested processes, each of which ends with its own error: the log of a failed start ends
with "See root cause above", a hundred lines after that cause.
"""

import http.client
import re
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from app.kit.directories import free_bytes
from app.local.processes import Child
from app.local.state import EmbeddedError
from app.tools.sandbox import socket_address, to_frame

_PREFIX: Final = re.compile(r"\((?:APIServer|EngineCore|Worker)\w* pid=\d+\) (?:ERROR [^\]]*\] )?")
_ERROR: Final = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): \S.*")
_REPEATED: Final = "root cause"


def root_cause(log: str) -> str | None:
    """Returns the last error that does not refer to another one, with its continuation."""
    lines = [_PREFIX.sub("", line, count=1) for line in log.splitlines()]
    for index in range(len(lines) - 1, -1, -1):
        if _ERROR.match(lines[index]) and _REPEATED not in lines[index]:
            # The reason of pydantic's errors is in the second line.
            more = [line for line in lines[index + 1 : index + 2] if line.startswith("  ")]
            return " ".join(line.strip() for line in [lines[index], *more])
    return None


_HTTP_OK = 200
_PAGE_BYTES = 4096


def http_ok(host: str, port: int, path: str) -> Callable[[int], bool]:
    def ready(pid: int) -> bool:
        del pid
        connection = http.client.HTTPConnection(host, port, timeout=1.0)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == _HTTP_OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return ready


def sandbox_answers(path: Path) -> Callable[[int], bool]:
    def ready(pid: int) -> bool:
        del pid
        with socket_address(path) as address, socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            try:
                probe.connect(address)
                probe.sendall(to_frame({"op": "ping"}))
                return bool(probe.recv(1))
            except OSError:
                return False

    return ready


def processor_time(pid: int) -> int:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except (OSError, UnicodeDecodeError):
        return 0
    user, system = after_name.split()[11:13]
    return int(user) + int(system)


def log_size(log: Path) -> Callable[[], int]:
    """Measures progress: returns the size of a child's log, which grows while the child loads."""

    def size() -> int:
        try:
            return log.stat().st_size
        except OSError:
            return 0

    return size


class LogLine:
    """True once the child wrote a text to its log since its start, or the disk is full."""

    def __init__(
        self, log: Path, text: str, *, measure: Callable[[Path], int] = free_bytes
    ) -> None:
        self._log = log
        self._text = text.encode()
        self._start = 0
        self._measure = measure

    def prepare(self) -> None:
        self._start = self._log.stat().st_size if self._log.exists() else 0

    def ready(self, pid: int) -> bool:
        del pid
        if self._measure(self._log) < _PAGE_BYTES:
            return True
        with self._log.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(self._start if self._start <= size else 0)  # smaller: the log was rotated
            return self._text in log.read()


_TRIES = 3


class StartInterrupted(EmbeddedError):
    """A stop was requested before every child was ready."""


def wait_ready(
    children: Sequence[Child],
    *,
    interrupted: Callable[[], bool] = lambda: False,
    on_ready: Callable[[Child], None] = lambda _: None,
) -> None:
    """Raises `StartInterrupted`, and `ChildFailed` once a required child is hopeless."""
    reported = list[Child]()
    while True:
        for child in children:
            if child.state == "ready" and child not in reported:
                reported.append(child)
                on_ready(child)
        if all(
            child.state == "ready" or (not child.spec.required and child.is_hopeless(_TRIES))
            for child in children
        ):
            return
        if interrupted():
            raise StartInterrupted("stopped before everything was ready")
        for child in children:
            child.tick()
            child.raise_if_hopeless(_TRIES)
        time.sleep(0.03)


def stop_in_order(waves: Iterable[Sequence[Child]]) -> None:
    for wave in waves:
        for child in wave:
            child.signal_stop()
        for child in wave:
            child.wait_stopped()
