"""`agent-rft doctor`: checks the requirements of `agent-rft up` without starting anything."""

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from app.local.layout import HOST
from app.local.servers import find_postgres, find_valkey
from app.local.state import DataDir, EmbeddedError, is_free, owner_pid, unprivileged_user
from app.models.compute import measured_choices
from app.settings import ConfiguredCompute, HostSettings, ModelSettings

_ENOUGH_DISK_BYTES = 2_000_000_000
_Check = tuple[str, Callable[[], str]]


class _FailedCheck(EmbeddedError):
    pass


def report(data_dir: Path, port: int) -> int:
    status = 0
    for name, check in _checks(data_dir.expanduser().absolute(), port):
        try:
            print(f"ok       {name}: {check()}")
        except EmbeddedError as problem:
            status = 1
            print(f"PROBLEM  {name}: {problem}")
    return status


def _checks(root: Path, port: int) -> Iterator[_Check]:
    host = HostSettings()
    yield "Python", lambda: f"{sys.version.split()[0]} at {sys.executable}"
    if host.database_url is None:
        yield "Postgres", lambda: _postgres(host)
        yield "Postgres user", _postgres_user
    if host.redis_url is None:
        yield "Valkey", lambda: str(find_valkey(host.valkey_bin))
    if host.engine_url is None:
        yield "torch", lambda: _version("torch")
        yield "peft", lambda: _version("peft")
        yield "base model", _base_models
        yield "computation", lambda: _computation(root)
    yield "data directory", lambda: _data_dir(root)
    yield "disk", lambda: _disk(root)
    yield "port", lambda: _port(root, port)


def _postgres(host: HostSettings) -> str:
    binaries = find_postgres(host.pg_bin)
    return f"{binaries.major} in {binaries.directory}"


def _postgres_user() -> str:
    run_as = unprivileged_user()
    if run_as.prefix:
        return "started by root: Postgres runs in a user namespace"
    if run_as.uid is None:
        return "the current user"
    return f"started by root: Postgres runs as uid {run_as.uid}"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise _FailedCheck("not installed: pip install 'agent-rft[train]'") from None


def _base_models() -> str:
    models = ModelSettings().base_models
    local = [Path(spec.path) for spec in models if Path(spec.path).is_absolute()]
    missing = [str(path) for path in local if not (path / "config.json").is_file()]
    if missing:
        raise _FailedCheck(f"no model in {', '.join(missing)}")
    return ", ".join(spec.name for spec in models)


def _computation(root: Path) -> str:
    compute = ConfiguredCompute().compute
    forced = [
        f"{name}={value}"
        for name, value in compute.model_dump(exclude={"measure"}).items()
        if value is not None
    ]
    measured = (
        [str(kept) for kept in measured_choices(DataDir(root).compute)] if compute.measure else []
    )
    unmeasured = "measured by the first start" if compute.measure else "as assumed, not measured"
    return "; ".join([*forced, *measured] or [unmeasured])


def _data_dir(root: Path) -> str:
    nearest = next(path for path in (root, *root.parents) if path.exists())
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise _FailedCheck(f"{nearest} cannot be written")
    return str(root)


def _disk(root: Path) -> str:
    nearest = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(nearest).free
    if free < _ENOUGH_DISK_BYTES:
        raise _FailedCheck(f"{free / 1e9:.1f} GB free; 2 GB are required")
    return f"{free / 1e9:.1f} GB free"


def _port(root: Path, port: int) -> str:
    pid = owner_pid(DataDir(root))
    if pid is not None:
        return f"an installation already runs here (pid {pid})"
    if not is_free(HOST, port):
        raise _FailedCheck(f"{HOST}:{port} is in use: choose another --port")
    return f"{port} is free"
