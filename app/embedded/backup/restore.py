"""Restores a backup into a new data directory, from which `agent-rft up` goes on.

Promises: nothing is written before the backup has been verified; the data directory appears whole,
by a rename, or not at all. Jobs that were running go on from the backup's moment.
"""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from app.embedded import layout
from app.embedded.backup import manifest
from app.embedded.backup.manifest import BackupUnusable, Manifest
from app.embedded.backup.server import started
from app.embedded.backup.snapshot import connection_options
from app.embedded.binaries import find_postgres
from app.embedded.commands import run_once
from app.embedded.errors import DataDirUnusable
from app.embedded.layout import UpOptions
from app.embedded.migrate import revisions
from app.embedded.postgres import PostgresServer
from app.embedded.provision import provision
from app.embedded.state import DataDir, State, ownership, save_state
from app.settings import HostSettings

_TIMEOUT_S: Final = 24 * 3600.0
_ANY_PORT: Final = 8000


def restore(source: Path, target: Path, host: HostSettings) -> Manifest:
    """Raises `BackupUnusable`, and `DataDirUnusable` if the target is not empty."""
    target = target.expanduser().absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataDirUnusable(f"{target} is not empty: a backup is restored into a new directory")
    found = manifest.read(source)
    _refuse_newer(found, host)
    secrets = _secrets(source, found, host)
    manifest.verify(source, found)
    scratch = target.with_name(f".{target.name}.restoring")
    shutil.rmtree(scratch, ignore_errors=True)
    data_dir = DataDir.at(scratch)
    try:
        with ownership(data_dir):
            state = replace(State.new(), **secrets)
            _copy_objects(source, data_dir, found)
            with started(data_dir, state, host) as server:
                provision(server, state)
                _load(source / manifest.DUMP, server)
                _migrate(state, data_dir, host)
            save_state(data_dir, state)
        data_dir.lock_file.unlink()
        if target.exists():
            target.rmdir()
        scratch.rename(target)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return found


def _refuse_newer(found: Manifest, host: HostSettings) -> None:
    major = find_postgres(host.pg_bin).major
    if found.postgres > major:
        raise BackupUnusable(
            f"the backup is of Postgres {found.postgres}, and version {major} is installed: set "
            "AGENT_RFT_PG_BIN to the directory of a newer one"
        )
    if found.schema not in revisions():
        raise BackupUnusable(
            f"the backup is of a newer version ({found.version}, schema {found.schema}): install "
            "that version to restore it"
        )


def _secrets(source: Path, found: Manifest, host: HostSettings) -> dict[str, Any]:
    """Returns the values of the state that are not made anew. Raises `BackupUnusable`."""
    if host.secret_key is not None:
        secrets: dict[str, Any] = {"secret_key": host.secret_key.get_secret_value()}
    elif (source / manifest.SECRETS).exists():
        secrets = json.loads((source / manifest.SECRETS).read_text())
    else:
        raise BackupUnusable(
            "the backup does not include the secret key, without which its API keys and sealed "
            "headers are useless: set AGENT_RFT_SECRET_KEY to the key of the installation that it "
            "was taken of"
        )
    if manifest.fingerprint(secrets["secret_key"]) != found.secret_key:
        raise BackupUnusable("the secret key is not the one of the backup")
    return secrets


def _copy_objects(source: Path, data_dir: DataDir, found: Manifest) -> None:
    prefix = f"{manifest.OBJECTS}/"
    data_dir.objects.mkdir(mode=0o700)
    for name, expected in found.files.items():
        if not name.startswith(prefix):
            continue
        copy = data_dir.objects / name.removeprefix(prefix)
        if manifest.copied(source / name, copy) != expected:
            raise BackupUnusable(f"{name} changed while it was restored")


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


def _migrate(state: State, data_dir: DataDir, host: HostSettings) -> None:
    settings = layout.build_settings(
        UpOptions(port=_ANY_PORT), host=host, state=state, data_dir=data_dir
    )
    run_once(
        (sys.executable, "-m", "app.embedded.migrate"),
        environment=layout.owner_environment(settings),
        timeout_s=_TIMEOUT_S,
    )
