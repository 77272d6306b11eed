"""Readiness probes of child processes.

Owns: the HTTP health check and the search for a text in a child's own log.
Promises: a probe returns within about a second.
"""

import http.client
import socket
from collections.abc import Callable
from pathlib import Path

from app.gateways.free_space import free_bytes
from app.gateways.sandbox.frames import socket_address, to_frame

_HTTP_OK = 200
_PAGE_BYTES = 4096


def http_ok(host: str, port: int, path: str) -> Callable[[int], bool]:
    """Returns a probe that is true if GET returns 200."""

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
    """Returns a probe that is true if the sandbox's runner answers on its Unix socket."""

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
    """Measures work: returns the clock ticks for which a process has computed; 0 if the system
    does not report them.
    """
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
    """Probe that is true once the child has written a text to its log since its last start. A full
    disk accepts no text: a running child then counts as ready.
    """

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
