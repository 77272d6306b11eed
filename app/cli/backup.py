"""`agent-rft backup` and `restore`: print one JSON object each, and notes on standard error."""

import json
import os
import sys
from pathlib import Path

from app.embedded.backup.manifest import OBJECTS, Manifest
from app.embedded.backup.restore import restore as restore_backup
from app.embedded.backup.take import BackupOptions, take
from app.embedded.errors import DataDirUnusable
from app.embedded.layout import UpOptions, build_settings
from app.embedded.state import DataDir, load_state
from app.settings import HostSettings

_ANY_PORT = 8000


def backup(data_dir: Path, out: Path, *, with_secret_key: bool) -> int:
    """Returns 1 if objects are missing to which rows lead."""
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
        "the backup includes the secret key: whoever reads it can use every API key's project"
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


def restore(source: Path, data_dir: Path) -> None:
    host = HostSettings()
    _refuse_other_database(host)
    os.umask(0o077)
    found = restore_backup(source.expanduser().absolute(), data_dir, host)
    _report(found, data_dir=str(data_dir))
    if found.bucket is not None:
        _note(f"the objects are in the bucket {found.bucket}: set it before agent-rft up")
    _note(
        "do not run it beside the installation that it was taken of: both would go on with the jobs"
    )


def _refuse_other_database(host: HostSettings) -> None:
    if host.database_url is not None:
        raise DataDirUnusable(
            "AGENT_RFT_DATABASE_URL names a database of your own: use pg_dump and pg_restore, as "
            "docs/operations.md says"
        )


def _report(found: Manifest, **more: object) -> None:
    count = sum(name.startswith(f"{OBJECTS}/") for name in found.files)
    report = {
        **more,
        "taken_at": found.taken_at,
        "version": found.version,
        "schema": found.schema,
        "objects": count,
        "missing": len(found.missing),
    }
    print(json.dumps(report))


def _note(text: str) -> None:
    print(f"agent-rft: {text}", file=sys.stderr)
