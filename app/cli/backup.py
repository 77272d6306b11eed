"""`agent-rft backup` and `restore`: print one JSON object each, and notes on standard error."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.local.backup import BackupOptions, take
from app.local.backup import restore as restore_backup
from app.local.backup_files import BackupUnusable, Manifest
from app.local.layout import UpOptions, build_settings
from app.local.state import DataDir, DataDirUnusable, load_state
from app.settings import HostSettings

_ANY_PORT = 8000


@contextmanager
def _readable_failures() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise BackupUnusable(f"{where}{error.strerror or error}") from error


@_readable_failures()
def backup(data_dir: Path, out: Path, *, with_secret_key: bool) -> int:
    """Takes a backup. Returns 1 if objects are missing that rows refer to."""
    host = HostSettings()
    _refuse_other_database(host)
    os.umask(0o077)
    directory = DataDir.existing(data_dir)
    settings = build_settings(
        UpOptions(port=_ANY_PORT), host=host, state=load_state(directory), data_dir=directory
    )
    options = BackupOptions(
        out=out.expanduser().absolute(),
        with_secret_key=with_secret_key,
        objects=settings.objects,
        objects_dir=settings.objects_dir,
    )
    made = take(directory, options, host)
    _report(made, backup=str(options.out), secret_key_included=with_secret_key)
    _note(
        "the backup includes the secret key: a reader of it can use every API key's project"
        if with_secret_key
        else f"the secret key is not included: keep it apart ({directory.state_file}, or "
        "AGENT_RFT_SECRET_KEY); without it the backup cannot be restored. --with-secret-key "
        "includes it"
    )
    if made.bucket is not None:
        _note(f"the objects are in the bucket {made.bucket}, which is not copied")
    for key in made.missing:
        _note(f"missing in the storage: {key}")
    return int(bool(made.missing))


@_readable_failures()
def restore(source: Path, data_dir: Path, *, unsigned: bool) -> None:
    host = HostSettings()
    _refuse_other_database(host)
    os.umask(0o077)
    found = restore_backup(source.expanduser().absolute(), data_dir, host, unsigned=unsigned)
    _report(found, data_dir=str(data_dir))
    if unsigned:
        _note("the backup was accepted without a signature: its author is unknown")
    elif host.secret_key is None:
        _note(
            "the signature was checked with the key that the backup includes, so it shows damage "
            "and no forgery; with AGENT_RFT_SECRET_KEY it shows both"
        )
    if found.bucket is not None:
        _note(f"the objects are in the bucket {found.bucket}: set it before agent-rft up")
    if found.base_model is not None:
        path = found.base_model.spec.path
        _note(
            f"agent-rft up will start the base model {found.base_model.hub_id or path} with the "
            f"weights in {path}: the backup has none"
        )
    _note(
        "do not run it at the same time as the installation that it was taken of: both would go on "
        "with the jobs"
    )


def _refuse_other_database(host: HostSettings) -> None:
    if host.database_url is not None:
        raise DataDirUnusable(
            "AGENT_RFT_DATABASE_URL names a database of your own: use pg_dump and pg_restore, as "
            "docs/operations.md says"
        )


def _report(found: Manifest, **more: object) -> None:
    report = {
        **more,
        "taken_at": found.taken_at,
        "version": found.version,
        "schema": found.schema,
        "objects": found.objects,
        "missing": len(found.missing),
    }
    print(json.dumps(report))


def _note(text: str) -> None:
    print(f"agent-rft: {text}", file=sys.stderr)
