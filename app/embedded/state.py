"""State of one data directory between starts: ports, passwords, keys.

Owns: the directory's layout, `state.json` (0600) and the lock that makes one supervisor its owner.
Promises: a second start reads the same values; files are replaced atomically.
Must not know: how the values are used.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Self

from app.embedded.errors import DataDirBusy, DataDirUnusable
from app.embedded.ports import free_port, is_free


@dataclass(frozen=True, slots=True)
class DataDir:
    """Paths under one data directory."""

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
        """Returns the directory of an installation. Raises `DataDirUnusable` if there is none."""
        directory = cls(path.expanduser().absolute())
        if not directory.state_file.exists():
            raise DataDirUnusable(f"no installation in {directory.root}: choose its --data-dir")
        return directory

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def compute(self) -> Path:
        """The ways in which engine and trainers of this directory compute on a CPU."""
        return self.root / "compute"

    @property
    def postgres(self) -> Path:
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        return self.root / "valkey"

    @property
    def objects(self) -> Path:
        return self.root / "objects"

    @property
    def state_file(self) -> Path:
        return self.root / "state.json"

    @property
    def base_model_file(self) -> Path:
        return self.root / "base_model.json"

    @property
    def services_file(self) -> Path:
        return self.root / "services.json"

    @property
    def children_file(self) -> Path:
        return self.root / "children.json"

    @property
    def reserve_file(self) -> Path:
        return self.root / "reserve"

    @property
    def lock_file(self) -> Path:
        return self.root / "supervisor.lock"


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
        """Returns the state with a new port for each one that another program uses."""
        ports = {name: getattr(self, name) for name in (*_PORTS, *_METRICS_PORTS)}
        for name, port in ports.items():
            if not port or not is_free("127.0.0.1", port):
                ports[name] = free_port(frozenset(ports.values()))
        return replace(self, **ports)


_METRICS_PORTS: Final = ("runs_metrics_port", "control_metrics_port")
"""Ports that states of earlier versions lack."""
_PORTS: Final = ("postgres_port", "valkey_port", "engine_port")


def load_state(data_dir: DataDir) -> InstallationState:
    """Reads the directory's state, or creates and saves a new one."""
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
    """Replaces a file as `write_private` does."""
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
    """Holds the directory's lock; the kernel releases it when the process ends, even by a kill.

    Raises `DataDirBusy` if another process holds the lock.
    """
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
    """Returns the pid of the supervisor that holds the lock, `None` if no process does."""
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
