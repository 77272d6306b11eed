"""The embedded Postgres server: cluster directory, command line, readiness.

Owns: initdb, server flags, the stale pid file, and SQL run as the superuser through psql.
Promises: TCP on loopback only, scram passwords for every role, recovery after any kill.
Must not know: the roles and databases of the cluster.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog

from app.embedded.children.orphans import command_line, fingerprint, wait_gone
from app.embedded.children.processes import ChildSpec
from app.embedded.commands import run_once
from app.embedded.errors import DataDirUnusable
from app.embedded.identity import RunAs
from app.embedded.servers.binaries import PostgresBinaries
from app.settings.environment import inherited_environment

_log = structlog.get_logger()

SUPERUSER = "postgres"
LOST_PEERS: Final = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "20000",
    "client_connection_check_interval": "10000",
}
"""Server options that end the session, and with it the locks, of a client whose machine is gone.
`docker-compose.yml` has the same; the service's own clients also set them
(`app/store/database.py`).
"""
_BUILTIN_LOCALE_SINCE = 17


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """One cluster in one directory on one loopback port."""

    binaries: PostgresBinaries
    cluster: Path
    port: int
    password: str = field(repr=False)
    run_as: RunAs
    durable: bool = True
    """False disables flushes to disk, for clusters that may be lost with the machine."""

    def child(self, log: Path) -> ChildSpec:
        settings = ["max_connections=200", "ssl=off"]
        settings += [f"{name}={value}" for name, value in LOST_PEERS.items()]
        if not self.durable:
            settings += ["fsync=off", "full_page_writes=off"]
        return ChildSpec(
            name="postgres",
            command=(
                *(self.binaries.program("postgres"), "-D", str(self.cluster)),
                *("-h", "127.0.0.1", "-p", str(self.port), "-k", ""),
                *(part for setting in settings for part in ("-c", setting)),
            ),
            environment=inherited_environment(),
            log=log,
            prepare=self.prepare,
            ready=self.is_ready,
            ready_timeout_s=120.0,  # crash recovery replays the log first
            stop_signal=signal.SIGINT,  # fast shutdown: ends sessions, writes a checkpoint
            stop_timeout_s=30.0,
            orphan_signal=signal.SIGINT,
            run_as=self.run_as,
        )

    def prepare(self) -> None:
        """Creates the cluster if it does not exist; else checks its version and its pid file."""
        if (self.cluster / "PG_VERSION").exists():
            self._check_version()
            self._clear_pid_file()
        else:
            self._create()

    def is_ready(self, pid: int) -> bool:
        """Returns true if `postmaster.pid` names the pid in its first line and `ready` in its
        last; the server updates the status there.
        """
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return bool(lines) and lines[0] == str(pid) and lines[-1].strip() == "ready"

    def execute(self, sql: str, *, database: str = "postgres") -> str:
        """Runs a script as the superuser and stops at the first error. The input is not logged."""
        return run_once(
            (
                *(self.binaries.program("psql"), "-X", "-q", "-A", "-t"),
                *("-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port)),
                *("-U", SUPERUSER, "-d", database),
            ),
            environment={"PGPASSWORD": self.password, "PGCONNECT_TIMEOUT": "10"},
            text_in=sql,
        )

    def _create(self) -> None:
        # initdb runs in a scratch directory, so a kill leaves no incomplete cluster behind.
        scratch = self.cluster.with_name(self.cluster.name + ".new")
        if scratch.exists():
            shutil.rmtree(scratch)
        scratch.mkdir(mode=0o700)
        self.run_as.own(scratch)
        if not self.run_as.can("-w", scratch):
            raise DataDirUnusable(
                f"{self.cluster.parent} cannot be entered by the user Postgres must run as: choose "
                "another --data-dir, or run agent-rft as an ordinary user"
            )
        options = ["--encoding=UTF8", "--no-locale"]
        if self.binaries.major >= _BUILTIN_LOCALE_SINCE:  # 15 and 16 refuse the builtin provider
            options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if not self.durable:
            options.append("--no-sync")
        with _password_file(self.password, self.run_as) as password_file:
            run_once(
                (
                    *(self.binaries.program("initdb"), "-D", str(scratch), "-U", SUPERUSER),
                    *("--auth=scram-sha-256", f"--pwfile={password_file}", *options),
                ),
                run_as=self.run_as,
                timeout_s=120.0,
            )
        scratch.rename(self.cluster)
        _log.info("cluster_created", version=self.binaries.major)

    def _check_version(self) -> None:
        version = (self.cluster / "PG_VERSION").read_text().strip()
        if version != str(self.binaries.major):
            raise DataDirUnusable(
                f"{self.cluster} was created by Postgres {version}, but version "
                f"{self.binaries.major} is installed: set AGENT_RFT_PG_BIN to the directory of a "
                "matching version, or dump and restore"
            )

    def _clear_pid_file(self) -> None:
        """Removes the pid file of an ended server; stops a server without a supervisor first.

        The server refuses to start while *any* process has the recorded pid, which may belong to
        another program after a reboot or a container restart.
        """
        pid_file = self.cluster / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return
        mark = fingerprint(pid)
        line = command_line(pid)
        if mark is not None and "postgres" in line and str(self.cluster) in line:
            _log.warning("unsupervised_server_stopped", pid=pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
            if not wait_gone(pid, mark, timeout_s=30.0):
                raise DataDirUnusable(
                    f"a Postgres server (pid {pid}) still runs on {self.cluster}: stop it"
                )
        pid_file.unlink(missing_ok=True)


@contextmanager
def _password_file(password: str, run_as: RunAs) -> Iterator[Path]:
    """Writes the password to a file that only the server's user can read; removes it at exit."""
    handle, name = tempfile.mkstemp(prefix="agent-rft-", text=True)
    path = Path(name)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(password + "\n")
        run_as.own(path)
        yield path
    finally:
        path.unlink(missing_ok=True)
