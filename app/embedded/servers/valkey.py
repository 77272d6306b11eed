"""The embedded Valkey (or Redis) server: configuration file, command line, readiness.

Owns: the server's configuration. Promises: loopback only, a password, every accepted message on
disk within a second, no eviction. Must not know: the data that it stores.
"""

import socket
from dataclasses import dataclass, field
from pathlib import Path

from app.embedded.children.processes import ChildSpec
from app.settings.environment import inherited_environment


@dataclass(frozen=True, slots=True)
class ValkeyServer:
    """One server on one loopback port, with its files in one directory."""

    binary: Path
    directory: Path
    port: int
    password: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def child(self, log: Path) -> ChildSpec:
        return ChildSpec(
            name="valkey",
            command=(str(self.binary), str(self._configuration)),
            environment=inherited_environment(),
            log=log,
            prepare=self.prepare,
            ready=self.is_ready,
        )

    @property
    def _configuration(self) -> Path:
        return self.directory / "valkey.conf"

    def prepare(self) -> None:
        """Writes the configuration file. It contains the password, because every user can read
        the arguments of a process.
        """
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = (
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            f'dir "{self.directory}"',
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "daemonize no",
        )
        self._configuration.touch(mode=0o600)
        self._configuration.write_text("\n".join(lines) + "\n")

    def is_ready(self, pid: int) -> bool:
        """Returns true if PING returns PONG; the server does not answer so while it loads data."""
        del pid
        request = f"*2\r\n$4\r\nAUTH\r\n${len(self.password)}\r\n{self.password}\r\nPING\r\n"
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.5) as connection:
                connection.sendall(request.encode())
                reply = b""
                while reply.count(b"\r\n") < 2:  # noqa: PLR2004 - one line for each command
                    chunk = connection.recv(256)
                    if not chunk:
                        return False
                    reply += chunk
        except OSError:
            return False
        return reply.endswith(b"+PONG\r\n")
