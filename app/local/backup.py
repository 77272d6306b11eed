"""Takes a backup of an installation, also while it runs, and restores one into a new directory,
from which `agent-rft up` continues. Jobs that were running continue from the time of the backup.
"""

import importlib.metadata
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import Connection

from app.jobs.jobs import ENDED
from app.kit.directories import MANIFEST, ManifestMismatch, read_manifest
from app.kit.objects import link_or_copy
from app.kit.processes import running_module
from app.local import backup_files as files
from app.local import layout
from app.local.backup_files import BackupSecrets, BackupUnusable, Manifest
from app.local.base_model import read_chosen, write_chosen
from app.local.layout import UpOptions
from app.local.probes import stop_in_order, wait_ready
from app.local.processes import Child, CommandFailed, run_once
from app.local.provision import DATABASE, provision, revisions
from app.local.servers import SUPERUSER, PostgresServer, find_postgres
from app.local.state import (
    DataDir,
    DataDirBusy,
    DataDirUnusable,
    InstallationState,
    load_state,
    owner_pid,
    ownership,
    save_state,
    write_private,
)
from app.models.models import CHECKPOINT_NAMES
from app.settings import HostSettings, ObjectsSettings

_STATES: Final = ", ".join(f"'{state}'" for state in ENDED)
_UNFINISHED: Final = f"status NOT IN ({_STATES})"
_NAMED_OBJECTS: Final = f"""
SELECT object_key FROM files WHERE deleted_at IS NULL
UNION
SELECT format('projects/%s/uploads/%s/%s', part.project_id, part.upload_id, part.id)
FROM upload_parts AS part JOIN uploads ON (uploads.project_id, uploads.id)
    = (part.project_id, part.upload_id)
WHERE uploads.status = 'pending' AND uploads.expires_at > now()
UNION
SELECT model.object_key FROM tuned_models AS model JOIN fine_tuning_jobs AS job
    ON (job.project_id, job.id) = (model.project_id, model.job_id)
WHERE model.deleted_at IS NULL AND NOT (model.name ~ '{CHECKPOINT_NAMES}'
    AND job.kept_checkpoints IS NOT NULL AND NOT job.kept_checkpoints @> to_jsonb(model.step))
UNION
SELECT unnest(ARRAY[resume_key, adapter_key]) FROM fine_tuning_jobs WHERE {_UNFINISHED}
UNION
SELECT object_key FROM model_exports
WHERE status = 'completed' AND deleted_at IS NULL AND expires_at > now();
"""  # noqa: S608 - constants
"""Keys of all objects and directories that rows refer to and that may still be read."""
_EXPORT_SNAPSHOT: Final = "SELECT pg_export_snapshot();"
_SCHEMA_REVISION: Final = "SELECT version_num FROM alembic_version;"


@contextmanager
def serving(data_dir: DataDir, host: HostSettings) -> Iterator[PostgresServer]:
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


_TIMEOUT_S: Final = 24 * 3600.0


class Snapshot:
    def __init__(self, server: PostgresServer, connection: Connection) -> None:
        self._server = server
        self._connection = connection
        [self._id] = self._query(_EXPORT_SNAPSHOT)

    def schema(self) -> str:
        return str(self._query(_SCHEMA_REVISION)[0])

    def needed(self) -> frozenset[str]:
        return frozenset(key for key in self._query(_NAMED_OBJECTS) if key)

    def dump(self, target: Path) -> None:
        run_once(
            (
                *(self._server.binaries.program("pg_dump"), "--format=custom"),
                *(f"--snapshot={self._id}", f"--file={target}"),
                *connection_options(self._server),
            ),
            environment={"PGPASSWORD": self._server.password},
            timeout_s=_TIMEOUT_S,
        )

    def _query(self, sql: str) -> list[Any]:
        return [row[0] for row in self._connection.execute(sql.encode())]


@contextmanager
def open_snapshot(server: PostgresServer) -> Iterator[Snapshot]:
    try:
        with psycopg.connect(
            host="127.0.0.1",
            port=server.port,
            user=SUPERUSER,
            password=server.password,
            dbname=DATABASE,
            connect_timeout=10,
        ) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield Snapshot(server, connection)
    except psycopg.Error as error:
        raise CommandFailed(f"the backup was not taken: {error}") from error


def connection_options(server: PostgresServer) -> tuple[str, ...]:
    return ("-h", "127.0.0.1", "-p", str(server.port), "-U", SUPERUSER, "-d", DATABASE)


def stage(objects: Path, needed: frozenset[str], target: Path) -> frozenset[str]:
    with suppress(shutil.Error):  # objects that were removed meanwhile
        shutil.copytree(
            objects,
            target,
            symlinks=True,
            ignore=shutil.ignore_patterns(".*"),  # unfinished writes
            copy_function=lambda source, link: link_or_copy(Path(source), Path(link)),
            dirs_exist_ok=True,
        )
    return frozenset(key for key in needed if not _is_whole(target / key))


def _is_whole(staged: Path) -> bool:
    """Returns whether an object is there, and each file of a directory's manifests."""
    if staged.is_file():
        return True
    directories = {path.parent for path in staged.rglob("*") if path.is_file()}
    try:
        return bool(directories) and all(
            {path.name for path in directory.iterdir()} - {MANIFEST}
            == read_manifest(directory.name, (directory / MANIFEST).read_bytes()).keys()
            for directory in directories
        )
    except (FileNotFoundError, ManifestMismatch):
        return False


_TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class BackupOptions:
    out: Path
    with_secret_key: bool
    objects: ObjectsSettings | None
    """The bucket of the installation, if it has one."""
    objects_dir: Path


def take(data_dir: DataDir, options: BackupOptions, host: HostSettings) -> Manifest:
    state, out = load_state(data_dir), options.out
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise BackupUnusable(f"{out} is not empty: choose another --out")
    staging = Path(tempfile.mkdtemp(prefix="backup-", dir=data_dir.root))
    try:
        with serving(data_dir, host) as server:
            schema, missing = _freeze(server, options, staging)
        count = 0 if options.objects else files.pack(staging, out / files.OBJECTS)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    secret_key = host.secret_key.get_secret_value() if host.secret_key else state.secret_key
    if options.with_secret_key:
        keys = {"api_key": state.api_key, "admin_key": state.admin_key}
        write_private(out / files.SECRETS, {"secret_key": secret_key, **keys})
    made = Manifest(
        format=files.FORMAT,
        taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=importlib.metadata.version("agent-rft"),
        schema=schema,
        postgres=server.binaries.major,
        secret_key=files.fingerprint(secret_key),
        bucket=None if options.objects is None else options.objects.bucket,
        objects=count,
        base_model=read_chosen(data_dir),
        missing=sorted(missing),
        files={name: files.sha256(out / name) for name in files.NAMES if (out / name).exists()},
    )
    files.write(out, made, secret_key=secret_key)
    return made


def _freeze(
    server: PostgresServer, options: BackupOptions, staging: Path
) -> tuple[str, frozenset[str]]:
    before: frozenset[str] | None = None
    for _ in range(_TRIES):
        with open_snapshot(server) as snapshot:
            missing = (
                frozenset()
                if options.objects
                else stage(options.objects_dir, snapshot.needed(), staging)
            )
            if not missing or missing == before:
                snapshot.dump(options.out / files.DUMP)
                return snapshot.schema(), missing
        before = missing
        shutil.rmtree(staging)
        staging.mkdir(mode=0o700)
        time.sleep(0.2)
    raise BackupUnusable(
        f"objects were removed during each of {_TRIES} tries, {min(before or ['none'])} among "
        "them: take the backup while less is running"
    )


_ANY_PORT: Final = 8000


def restore(source: Path, target: Path, host: HostSettings, *, unsigned: bool = False) -> Manifest:
    """Raises `BackupUnusable`, `DataDirBusy`, and `DataDirUnusable` if the target is not empty."""
    target = target.expanduser().absolute()
    _refuse_used(target)
    if target.is_relative_to(source):
        raise DataDirUnusable(f"{target} is within the backup: choose another --data-dir")
    secrets = _secrets(source, host)
    found = files.read_manifest(source, secret_key=secrets.secret_key, unsigned=unsigned)
    _refuse_newer(found, host)
    files.verify(source, found)
    with _appearing(target) as data_dir:
        state = replace(InstallationState.new(), **asdict(secrets))
        data_dir.objects.mkdir(mode=0o700)
        if files.OBJECTS in found.files:
            files.unpack(source, found, data_dir.objects)
        if found.base_model is not None:
            write_chosen(data_dir, found.base_model)
        dump = data_dir.root / files.DUMP
        files.copy(source, found, files.DUMP, dump)
        with running_server(data_dir, state, host) as server:
            provision(server, state)
            _load(dump, server)
            _migrate(state, data_dir, host)
        dump.unlink()
        save_state(data_dir, state)
    return found


def _refuse_used(target: Path) -> None:
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise DataDirUnusable(f"{target} is not empty: a backup is restored into a new directory")


@contextmanager
def _appearing(target: Path) -> Iterator[DataDir]:
    """Yields an empty directory beside the target, which becomes the target when the block ends
    well and is removed when it does not.

    The lock is held from before the first removal until after the last one, so that two restores
    into the same target never work in one directory. Raises `DataDirBusy`.
    """
    data_dir = DataDir.at(target.with_name(f".{target.name}.restoring"))
    try:
        with ownership(data_dir):
            try:
                _empty(data_dir)  # leftovers of a killed restore
                yield DataDir.at(data_dir.root)
                _refuse_used(target)
                data_dir.root.replace(target)
                (target / data_dir.lock_file.name).unlink()
            except BaseException:
                _empty(data_dir)
                data_dir.lock_file.unlink(missing_ok=True)
                with suppress(OSError):
                    data_dir.root.rmdir()
                raise
    except DataDirBusy as error:
        raise DataDirBusy(f"another restore into {target} is running: wait for its end") from error


def _empty(data_dir: DataDir) -> None:
    if not data_dir.root.exists():
        return
    for path in data_dir.root.iterdir():
        if path == data_dir.lock_file:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _refuse_newer(found: Manifest, host: HostSettings) -> None:
    major = find_postgres(host.pg_bin).major
    if found.postgres > major:
        raise BackupUnusable(
            f"the backup is of Postgres {found.postgres}, and version {major} is installed: set "
            "AGENT_RFT_PG_BIN to the directory of a newer one"
        )
    if found.schema not in revisions():
        raise BackupUnusable(
            f"the backup is of another version ({found.version}, schema {found.schema}), newer "
            "than this one or from before the first release: install that version to restore it"
        )


def _secrets(source: Path, host: HostSettings) -> BackupSecrets:
    if host.secret_key is not None:
        return BackupSecrets(secret_key=host.secret_key.get_secret_value())
    secrets = files.read_secrets(source)
    if secrets is None:
        raise BackupUnusable(
            "the backup does not include the secret key, without which its API keys and sealed "
            "headers are useless: set AGENT_RFT_SECRET_KEY to the key of the installation that it "
            "was taken of"
        )
    return secrets


def _load(dump: Path, server: PostgresServer) -> None:
    run_once(
        (
            *(server.binaries.program("pg_restore"), "--exit-on-error", "--single-transaction"),
            *connection_options(server),
            str(dump),
        ),
        environment={"PGPASSWORD": server.password},
        timeout_s=_TIMEOUT_S,
    )


def _migrate(state: InstallationState, data_dir: DataDir, host: HostSettings) -> None:
    settings = layout.build_settings(
        UpOptions(port=_ANY_PORT), host=host, state=state, data_dir=data_dir
    )
    run_once(
        running_module("app.local.provision"),
        environment=layout.environment_of(settings),
        timeout_s=_TIMEOUT_S,
    )
