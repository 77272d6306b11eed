"""Takes a backup of a data directory while the service continues.

Promises: database and objects are of one moment. The objects that the rows of a snapshot name are
linked at once; if the service removed one in that instant, another snapshot is taken. The name of
the last used base model is saved too, because the directory's jobs need that model. Nothing else of
the data directory is needed: notifications are sent again, and weights and settings belong to the
machine.
"""

import importlib.metadata
import shutil
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from app.embedded.backup import manifest, plain_files
from app.embedded.backup.manifest import Manifest
from app.embedded.backup.plain_files import BackupUnusable
from app.embedded.backup.server import serving
from app.embedded.backup.snapshot import Snapshot, open_snapshot
from app.embedded.backup.staging import stage, staged_files
from app.embedded.base_model.last_model import read_chosen
from app.embedded.servers.postgres import PostgresServer
from app.embedded.state import DataDir, InstallationState, load_state, write_private
from app.settings.host import HostSettings
from app.settings.objects import ObjectsSettings

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
