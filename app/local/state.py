"""An installation on one machine: its directory, state and ports, and why it cannot start."""

import errno
import fcntl
import json
import os
import pwd
import random
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypedDict

from app.kit import processes as exit_codes


class EmbeddedError(Exception):
    """Base class of the supervisor's errors. `exit_code` is the exit status of `agent-rft`."""

    exit_code: ClassVar[int] = exit_codes.FAILED


class WrongOptions(EmbeddedError):
    exit_code = exit_codes.WRONG_OPTIONS


class BinaryMissing(EmbeddedError):
    exit_code = exit_codes.BINARY_MISSING


class PortInUse(EmbeddedError):
    exit_code = exit_codes.PORT_IN_USE


class DataDirBusy(EmbeddedError):
    exit_code = exit_codes.DATA_DIR_BUSY


class ChildFailed(EmbeddedError):
    """A child ended or did not become ready during the first start."""

    exit_code = exit_codes.CHILD_FAILED


class DataDirUnusable(EmbeddedError):
    exit_code = exit_codes.DATA_DIR_UNUSABLE


class ModelNotFound(EmbeddedError):
    exit_code = exit_codes.MODEL_NOT_FOUND


class ModelRefused(EmbeddedError):
    exit_code = exit_codes.MODEL_REFUSED


class DoesNotFit(EmbeddedError):
    exit_code = exit_codes.DOES_NOT_FIT


class EngineNotInstalled(EmbeddedError):
    exit_code = exit_codes.ENGINE_NOT_INSTALLED


_LOWEST = 15_000
_HIGHEST = 32_000


def free_port(taken: frozenset[int] = frozenset()) -> int:
    """Below the kernel's range for outgoing connections: a client could get a port inside it while
    its server restarts, and one that redials its stopped server can even connect to itself.
    """
    highest = min(_HIGHEST, _first_outgoing_port() - 1)
    for _ in range(200):
        port = random.randint(_LOWEST, max(highest, _LOWEST + 1000))
        if port not in taken and is_free("127.0.0.1", port):
            return port
    raise OSError(errno.EADDRINUSE, f"no free port between {_LOWEST} and {highest}")


def is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=0.5):
            return True
    except OSError:
        return False


def _first_outgoing_port() -> int:
    try:
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    except OSError:
        return 49_152  # the range of macOS and of RFC 6335
    return int(text.split()[0])


_SERVICE_USERS = ("postgres", "nobody")


class PopenArguments(TypedDict, total=False):
    user: int
    group: int
    extra_groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class RunAs:
    """Identity that a program runs under: a command prefix, or a user and group id."""

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    def popen_arguments(self) -> PopenArguments:
        if self.uid is None or self.gid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can(self, test: str, path: Path) -> bool:
        """Returns true if the identity passes `test -r`, `-w` or `-x` on the path."""
        result = subprocess.run(  # noqa: S603 - fixed program, no shell
            (*self.prefix, "/usr/bin/test", test, str(path)), check=False, **self.popen_arguments()
        )
        return result.returncode == 0


AS_OURSELVES = RunAs()
# Postgres sees uid 1000; files still belong to root, parents keep mode 0700, and the parent-death
# signal still works.
_MAPPED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


def unprivileged_user() -> RunAs:
    """The namespace needs no chmod and no chown, but docker's default seccomp filter refuses it."""
    if os.geteuid() != 0:
        return AS_OURSELVES
    if namespaces_work():
        return RunAs(prefix=_MAPPED)
    return service_user()


def namespaces_work() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    result = subprocess.run((*_MAPPED, "true"), check=False, capture_output=True)  # noqa: S603 - fixed
    return result.returncode == 0


def service_user() -> RunAs:
    """Returns the first existing user of a list. Raises `DataDirUnusable` without one."""
    for name in _SERVICE_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return RunAs(uid=entry.pw_uid, gid=entry.pw_gid)
    raise DataDirUnusable(
        "Postgres does not run as root, this machine refuses user namespaces and has none of the "
        f"users {', '.join(_SERVICE_USERS)}: run agent-rft as an ordinary user"
    )


class _Below:
    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, directory: "DataDir", _owner: type) -> Path:
        return directory.root / self._name


@dataclass(frozen=True, slots=True)
class DataDir:
    root: Path

    @classmethod
    def at(cls, path: Path) -> Self:
        """Returns the directory; creates it with mode 0700 if it does not exist."""
        root = path.expanduser().absolute()
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            (root / "logs").mkdir(mode=0o700, exist_ok=True)
        except OSError as failure:
            raise DataDirUnusable(f"{root}: {failure.strerror}") from failure
        return cls(root)

    @classmethod
    def existing(cls, path: Path) -> Self:
        directory = cls(path.expanduser().absolute())
        if not directory.state_file.exists():
            raise DataDirUnusable(f"no installation in {directory.root}: choose its --data-dir")
        return directory

    logs = _Below("logs")
    compute = _Below("compute")
    postgres = _Below("postgres")
    valkey = _Below("valkey")
    objects = _Below("objects")
    state_file = _Below("state.json")
    base_model_file = _Below("base_model.json")
    services_file = _Below("services.json")
    children_file = _Below("children.json")
    reserve_file = _Below("reserve")
    lock_file = _Below("supervisor.lock")


def _password() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class InstallationState:
    """Secrets and ports of one installation. Its `repr` omits the secrets."""

    postgres_port: int
    valkey_port: int
    engine_port: int
    runs_metrics_port: int = 0
    control_metrics_port: int = 0
    superuser_password: str = field(default_factory=_password, repr=False)
    owner_password: str = field(default_factory=_password, repr=False)
    app_password: str = field(default_factory=_password, repr=False)
    worker_password: str = field(default_factory=_password, repr=False)
    valkey_password: str = field(default_factory=_password, repr=False)
    engine_api_key: str = field(default_factory=_password, repr=False)
    secret_key: str = field(default_factory=_password, repr=False)
    api_key: str | None = field(default=None, repr=False)
    admin_key: str | None = field(default=None, repr=False)

    @classmethod
    def new(cls) -> Self:
        return cls(0, 0, 0).with_free_ports()

    def with_free_ports(self) -> Self:
        ports = {name: getattr(self, name) for name in (*_PORTS, *_METRICS_PORTS)}
        for name, port in ports.items():
            if not port or not is_free("127.0.0.1", port):
                ports[name] = free_port(frozenset(ports.values()))
        return replace(self, **ports)


_METRICS_PORTS: Final = ("runs_metrics_port", "control_metrics_port")
"""Ports that states of earlier versions lack."""
_PORTS: Final = ("postgres_port", "valkey_port", "engine_port")


def load_state(data_dir: DataDir) -> InstallationState:
    try:
        values = json.loads(data_dir.state_file.read_text())
    except FileNotFoundError:
        state = InstallationState.new()
        save_state(data_dir, state)
        return state
    except (OSError, ValueError) as failure:
        raise DataDirUnusable(f"{data_dir.state_file}: {failure}") from failure
    if not isinstance(values, dict) or any(type(values.get(name)) is not int for name in _PORTS):
        raise DataDirUnusable(
            f"{data_dir.state_file} is not a state file: restore it from a backup, or choose "
            "another --data-dir"
        )
    known = {item.name for item in fields(InstallationState)}
    return InstallationState(**{name: value for name, value in values.items() if name in known})


def save_state(data_dir: DataDir, state: InstallationState) -> None:
    try:
        write_private(data_dir.state_file, asdict(state))
    except OSError as failure:
        raise DataDirUnusable(f"{data_dir.state_file}: {failure.strerror}") from failure


def write_private(path: Path, value: dict[str, Any]) -> None:
    """Replaces a JSON file atomically, with mode 0600, flushed to disk before this returns."""
    write_private_bytes(path, json.dumps(value, indent=1).encode())


def write_private_bytes(path: Path, content: bytes) -> None:
    scratch = path.with_suffix(".new")
    scratch.unlink(missing_ok=True)
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


@contextmanager
def ownership(data_dir: DataDir) -> Iterator[None]:
    """Holds the directory's lock, which a kill releases too. Raises `DataDirBusy`."""
    data_dir.lock_file.touch(mode=0o600)
    with data_dir.lock_file.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise DataDirBusy(
                f"{data_dir.root} belongs to a running supervisor (pid {file.read().strip()}): "
                "use it, choose another --data-dir, or stop it with agent-rft down"
            ) from None
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def owner_pid(data_dir: DataDir) -> int | None:
    try:
        with data_dir.lock_file.open("r") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                text = file.read().strip()
                return int(text) if text.isdigit() else None
    except FileNotFoundError:
        return None
    return None
