"""Targets of attacks: files, listeners on the network, and secrets. They record a hit."""

import os
import secrets
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.sandbox.running import ENVIRONMENT_SECRET

FILE_SECRET = "canary-of-a-file"
PROGRAM_SECRET = "canary-of-another-program"
SECRETS = (
    ENVIRONMENT_SECRET,
    FILE_SECRET,
    PROGRAM_SECRET,
    "canary-of-memory",
    "hidden_name",
    "root:x:0",
)
_SHARED = [Path("/tmp"), Path("/dev/shm"), Path("/var/tmp")]  # noqa: S108 - places that every user can write to


@dataclass(slots=True)
class Targets:
    directory: Path
    tcp: int
    udp: int
    unix: str
    abstract: str
    hits: list[str] = field(default_factory=list)

    def facts(self, pids: list[int]) -> dict[str, Any]:
        """Returns all that an attacker would like to know, as JSON."""
        return {
            "directory": str(self.directory),
            "victim": str(self.directory / "victim"),
            "tcp": self.tcp,
            "udp": self.udp,
            "unix": self.unix,
            "abstract": self.abstract,
            "pids": pids,
        }

    def files(self) -> list[Any]:
        """Returns names, kinds, owners, modes and contents of all that stands in the directory."""
        found: list[Any] = [self._of(self.directory)]
        for path in sorted(self.directory.rglob("*")):
            content = path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
            found.append((*self._of(path), content))
        left = [str(parent) for parent in _SHARED if (parent / "agent_rft_escape").exists()]
        return [*found, left]

    def _of(self, path: Path) -> tuple[Any, ...]:
        status = path.lstat()
        return (path.name, status.st_mode, status.st_uid, status.st_gid, status.st_nlink)


@contextmanager
def targets(directory: Path) -> Iterator[Targets]:
    """Opens real listeners, and a directory that every user of the machine may write to."""
    directory.mkdir()
    directory.chmod(0o777)
    (directory / "hidden_name").touch()
    victim = directory / "victim"
    victim.write_text(FILE_SECRET)
    victim.chmod(0o666)
    tcp = socket.create_server(("127.0.0.1", 0))
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    # Beside the directory whose files are compared; open to every user.
    unix_path = str(directory.parent / "listener")
    unix.bind(unix_path)
    Path(unix_path).chmod(0o777)
    name = f"agent-rft-{secrets.token_hex(8)}"
    abstract.bind("\0" + name)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    found = Targets(directory, tcp.getsockname()[1], udp.getsockname()[1], unix_path, name)
    listeners = {"tcp": tcp, "unix": unix, "abstract": abstract}
    for listener in (unix, abstract):
        listener.listen()
    threads = [
        threading.Thread(target=_accept, args=(kind, listener, found.hits), daemon=True)
        for kind, listener in listeners.items()
    ]
    threads.append(threading.Thread(target=_receive, args=(udp, found.hits), daemon=True))
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        for listener in (*listeners.values(), udp):
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits on it
            listener.close()
        os.unlink(unix_path)  # noqa: PTH108 - a text, as the attackers get it


def _accept(kind: str, listener: socket.socket, hits: list[str]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            hits.append(kind)
            connection.close()


def _receive(listener: socket.socket, hits: list[str]) -> None:
    with suppress(OSError):
        while data := listener.recv(100):
            hits.append(f"udp {data!r}")
