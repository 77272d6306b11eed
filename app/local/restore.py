"""Restores a backup into a new data directory, from which `agent-rft up` continues.

Jobs that were running continue from the time of the backup.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from app.kit.processes import running_module
from app.local import backup_files as files
from app.local import layout
from app.local.backup import connection_options, running_server
from app.local.backup_files import BackupSecrets, BackupUnusable, Manifest
from app.local.base_model import write_chosen
from app.local.commands import run_once
from app.local.layout import UpOptions
from app.local.provision import provision, revisions
from app.local.servers import PostgresServer, find_postgres
from app.local.state import (
    DataDir,
    DataDirBusy,
    DataDirUnusable,
    InstallationState,
    ownership,
    save_state,
)
from app.settings import HostSettings

_TIMEOUT_S: Final = 24 * 3600.0
_ANY_PORT: Final = 8000


def restore(source: Path, target: Path, host: HostSettings, *, unsigned: bool = False) -> Manifest:
    """Restores a backup. Raises `BackupUnusable`, `DataDirUnusable` if the target is not empty, and
    `DataDirBusy`.
    """
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
    """Returns the values of the state that are restored, not generated. Raises `BackupUnusable`."""
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
