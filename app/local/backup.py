"""The Postgres of a data directory: the running one, or one that is started for a command."""

import importlib.metadata
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from app.kit.sql import (
    BEGIN_SNAPSHOT,
    EXPORT_SNAPSHOT,
    NAMED_OBJECTS,
    SCHEMA_REVISION,
    UNFINISHED_JOBS,
)
from app.local import backup_files as manifest
from app.local import backup_files as plain_files
from app.local import layout
from app.local.backup_files import BackupUnusable, Manifest
from app.local.base_model import read_chosen
from app.local.commands import CommandFailed, run_once
from app.local.probes import stop_in_order, wait_ready
from app.local.processes import Child
from app.local.provision import DATABASE
from app.local.servers import SUPERUSER, PostgresServer
from app.local.state import (
    DataDir,
    InstallationState,
    load_state,
    owner_pid,
    ownership,
    save_state,
    write_private,
)
from app.models.adapters import MANIFEST, ManifestMismatch, read_manifest
from app.settings import HostSettings, ObjectsSettings, inherited_environment


@contextmanager
def serving(data_dir: DataDir, host: HostSettings) -> Iterator[PostgresServer]:
    """Yields the server of an installation, whether `agent-rft up` runs or not."""
    state = load_state(data_dir)
    if owner_pid(data_dir) is not None:
        yield layout.postgres_server(state, data_dir, host)
        return
    with ownership(data_dir):
        state = state.with_free_ports()
        save_state(data_dir, state)
        with running_server(data_dir, state, host) as server:
            yield server


@contextmanager
def running_server(
    data_dir: DataDir, state: InstallationState, host: HostSettings
) -> Iterator[PostgresServer]:
    """Runs the server until the end of the block; creates the cluster if there is none."""
    server = layout.postgres_server(state, data_dir, host)
    child = Child(server.child(data_dir.logs / "postgres.log"))
    try:
        child.tick()
        wait_ready([child])
        yield server
    finally:
        stop_in_order([[child]])


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


_NOTES: Final = ("start", "reference", "validation")
"""Directories that a run writes once and needs until it ends; see
`workers/runs/publisher.py`.
"""


def stage(objects: Path, named: NamedObjects, target: Path) -> frozenset[str]:
    """Links all named objects. Returns the keys that are missing, or that the service removed
    meanwhile.
    """
    missing = {key for key in named.needed if not _link(objects / key, target / key)}
    for job in named.jobs:
        for note in _NOTES:
            key = f"{job}/{note}"
            if (objects / key).is_dir() and not _link(objects / key, target / key):
                missing.add(key)
    return frozenset(missing)


def staged_files(target: Path) -> Iterator[tuple[str, Path]]:
    """Yields the path below the staging directory and the whole path of each file, in order."""
    for path in sorted(target.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(target)), path


def _link(source: Path, target: Path) -> bool:
    """Links one object. Returns False, and leaves no link, if a part of it is missing."""
    try:
        if not source.is_dir():
            _link_file(source, target)
            return True
        for path in source.rglob("*"):
            if path.is_file() and not _is_partial(path.relative_to(source)):
                _link_file(path, target / path.relative_to(source))
        if _is_whole(target):
            return True
    except (FileNotFoundError, NotADirectoryError):
        pass
    shutil.rmtree(target, ignore_errors=True)
    return False


def _is_whole(target: Path) -> bool:
    """Returns whether each directory has all files of its manifest: a removal takes them away one
    after another.
    """
    directories = {path.parent for path in target.rglob("*") if path.is_file()}
    try:
        return bool(directories) and all(
            {path.name for path in directory.iterdir()} - {MANIFEST}
            == read_manifest(directory.name, (directory / MANIFEST).read_bytes()).keys()
            for directory in directories
        )
    except (FileNotFoundError, ManifestMismatch):
        return False


def _is_partial(path: Path) -> bool:
    """Returns True for an unfinished write, whose name begins with a dot."""
    return any(part.startswith(".") for part in path.parts)


def _link_file(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if target.exists():  # a key within another key's directory
        return
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)


_TRIES: Final = 20
_PAUSE_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class BackupOptions:
    out: Path
    with_secret_key: bool
    objects: ObjectsSettings | None
    """The bucket of the installation, if it has one."""
    objects_dir: Path


def take(data_dir: DataDir, options: BackupOptions, host: HostSettings) -> Manifest:
    """Takes a backup. Raises `BackupUnusable` for a directory that is not empty."""
    state, out = load_state(data_dir), options.out
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise BackupUnusable(f"{out} is not empty: choose another --out")
    staging = Path(tempfile.mkdtemp(prefix="backup-", dir=data_dir.root))
    try:
        with serving(data_dir, host) as server:
            schema, missing = _freeze(server, options, staging)
        files = _copied(staging, out / manifest.OBJECTS)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    secret_key = host.secret_key.get_secret_value() if host.secret_key else state.secret_key
    if options.with_secret_key:
        write_private(out / manifest.SECRETS, _secrets(state, secret_key))
        files[manifest.SECRETS] = plain_files.sha256(out / manifest.SECRETS)
    files[manifest.DUMP] = plain_files.sha256(out / manifest.DUMP)
    chosen = read_chosen(data_dir)
    if chosen is not None:
        write_private(out / manifest.BASE_MODEL, chosen.model_dump(mode="json"))
        files[manifest.BASE_MODEL] = plain_files.sha256(out / manifest.BASE_MODEL)
    made = Manifest(
        format=manifest.FORMAT,
        taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=importlib.metadata.version("agent-rft"),
        schema=schema,
        postgres=server.binaries.major,
        secret_key=manifest.fingerprint(secret_key),
        bucket=None if options.objects is None else options.objects.bucket,
        missing=sorted(missing),
        files=dict(sorted(files.items())),
    )
    manifest.write(out, made, secret_key=secret_key)
    return made


def _freeze(
    server: PostgresServer, options: BackupOptions, staging: Path
) -> tuple[str, frozenset[str]]:
    """Dumps the database and links the objects of one moment. Returns the revision of the schema
    and the keys of objects that were not found.
    """
    before: frozenset[str] | None = None
    for _ in range(_TRIES):
        with open_snapshot(server) as snapshot:
            missing = _stage(snapshot, options, staging)
            if not missing or missing == before:
                snapshot.dump(options.out / manifest.DUMP)
                return snapshot.schema(), missing
        before = missing
        shutil.rmtree(staging)
        staging.mkdir(mode=0o700)
        time.sleep(_PAUSE_S)
    raise BackupUnusable(
        f"objects were removed during each of {_TRIES} tries, {min(before or ['none'])} among "
        "them: take the backup while less is running"
    )


def _stage(snapshot: Snapshot, options: BackupOptions, staging: Path) -> frozenset[str]:
    if options.objects is not None:
        return frozenset()
    return stage(options.objects_dir, snapshot.named_objects(), staging)


def _copied(staging: Path, objects: Path) -> dict[str, str]:
    """Copies the linked objects. Returns the digests by path in the backup."""
    return {
        f"{manifest.OBJECTS}/{key}": plain_files.copy_private(path, objects / key)
        for key, path in staged_files(staging)
    }


def _secrets(state: InstallationState, secret_key: str) -> dict[str, Any]:
    return {"secret_key": secret_key, "api_key": state.api_key, "admin_key": state.admin_key}
