"""Holds one snapshot of the database open while it is read and dumped.

Owns: the psql session whose exported snapshot `pg_dump` uses. Promises: rows of all tenants are
seen, as the superuser.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from app.embedded.commands import CommandFailed, run_once
from app.embedded.provision import DATABASE
from app.embedded.servers.postgres import SUPERUSER, PostgresServer
from app.settings.environment import inherited_environment
from app.store.named_objects import (
    BEGIN_SNAPSHOT,
    EXPORT_SNAPSHOT,
    NAMED_OBJECTS,
    SCHEMA_REVISION,
    UNFINISHED_JOBS,
)

_END: Final = "-- end of answer --"
_DUMP_TIMEOUT_S: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class NamedObjects:
    """Object keys, of objects and of directories."""

    needed: frozenset[str]
    jobs: frozenset[str]
    """Directories of unfinished jobs, whose notes are copied if they exist."""


class Snapshot:
    def __init__(self, server: PostgresServer, session: "subprocess.Popen[str]") -> None:
        self._server = server
        self._session = session
        self._query(BEGIN_SNAPSHOT)
        [self._id] = self._query(EXPORT_SNAPSHOT)

    def schema(self) -> str:
        [revision] = self._query(SCHEMA_REVISION)
        return revision

    def named_objects(self) -> NamedObjects:
        needed = frozenset(key for key in self._query(NAMED_OBJECTS) if key)
        return NamedObjects(needed, frozenset(self._query(UNFINISHED_JOBS)))

    def dump(self, target: Path) -> None:
        """Dumps the whole database as of the snapshot."""
        run_once(
            (
                *(self._server.binaries.program("pg_dump"), "--format=custom"),
                *(f"--snapshot={self._id}", f"--file={target}"),
                *connection_options(self._server),
            ),
            environment={"PGPASSWORD": self._server.password},
            timeout_s=_DUMP_TIMEOUT_S,
        )

    def _query(self, sql: str) -> list[str]:
        """Runs a query and returns its lines. Raises `CommandFailed`."""
        reads, writes = _pipes(self._session)
        try:
            writes.write(f"{sql}\n\\echo {_END}\n")
            writes.flush()
        except BrokenPipeError as error:
            raise CommandFailed("psql ended while the backup was taken") from error
        lines: list[str] = []
        for line in reads:
            if line.rstrip("\n") == _END:
                return lines
            lines.append(line.rstrip("\n"))
        raise CommandFailed("psql ended while the backup was taken: " + "\n".join(lines))


@contextmanager
def open_snapshot(server: PostgresServer) -> Iterator[Snapshot]:
    command = (
        *(server.binaries.program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"),
        *connection_options(server),
    )
    session = subprocess.Popen(  # noqa: S603 - a program found by this package, no shell
        command,
        env={**inherited_environment(), "PGPASSWORD": server.password, "PGCONNECT_TIMEOUT": "10"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Snapshot(server, session)
    finally:
        reads, writes = _pipes(session)
        writes.close()
        session.wait()
        reads.close()


def connection_options(server: PostgresServer) -> tuple[str, ...]:
    return ("-h", "127.0.0.1", "-p", str(server.port), "-U", SUPERUSER, "-d", DATABASE)


def _pipes(session: "subprocess.Popen[str]") -> tuple[IO[str], IO[str]]:
    if session.stdout is None or session.stdin is None:
        raise TypeError("the session was opened without pipes")
    return session.stdout, session.stdin
