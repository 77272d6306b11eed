"""The manifest of a backup: versions, and the SHA-256 of every other file in it.

Owns: the layout of a backup's directory and the reading of one. Promises: the manifest is written
last, so a directory without one is no backup; a backup is used only if every file matches.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from app.embedded.errors import EmbeddedError
from app.embedded.state import write_private
from app.settings import derive_key

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DUMP: Final = "database.dump"
SECRETS: Final = "secrets.json"
OBJECTS: Final = "objects"
_CHUNK_BYTES: Final = 1 << 20


class BackupUnusable(EmbeddedError):
    """A backup that is incomplete, damaged, or of another version."""

    exit_code = 8


@dataclass(frozen=True, slots=True)
class Manifest:
    format: int
    taken_at: str
    version: str
    """Version of the service that wrote the backup."""
    schema: str
    """The newest migration of the database."""
    postgres: int
    """Major version of the server."""
    secret_key: str
    """Fingerprint of the secret key, which tells if another one is the same."""
    bucket: str | None
    """The bucket that holds the objects, of which the backup has none."""
    missing: list[str]
    """Keys of objects that rows name and the storage lacked."""
    files: dict[str, str]
    """SHA-256 of each file, by its path in the backup."""


def fingerprint(secret_key: str) -> str:
    return derive_key(secret_key, "backup/fingerprint").hex()[:32]


def write(directory: Path, manifest: Manifest) -> None:
    write_private(directory / MANIFEST, asdict(manifest))


def read(directory: Path) -> Manifest:
    """Raises `BackupUnusable`."""
    path = directory / MANIFEST
    try:
        values: Any = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise BackupUnusable(
            f"{directory} has no {MANIFEST}: it is no backup, or one that was interrupted"
        ) from error
    except (OSError, ValueError) as error:
        raise BackupUnusable(f"{path} cannot be read: {error}") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise BackupUnusable(f"{path} has another format than {FORMAT}: use the version it is of")
    try:
        return Manifest(**{item.name: values[item.name] for item in fields(Manifest)})
    except KeyError as error:
        raise BackupUnusable(f"{path} lacks {error}") from error


def verify(directory: Path, manifest: Manifest) -> None:
    """Reads every file. Raises `BackupUnusable` with the first that differs, lacks or is too
    many.
    """
    found = {
        str(path.relative_to(directory))
        for path in directory.rglob("*")
        if not path.is_dir() and path != directory / MANIFEST
    }
    odd = sorted(found ^ manifest.files.keys())
    if odd:
        state = "is not in its manifest" if odd[0] in found else "is missing"
        raise BackupUnusable(f"{directory}: {odd[0]} {state}")
    for name, expected in manifest.files.items():
        if sha256(directory / name) != expected:
            raise BackupUnusable(f"{directory}: {name} differs from its checksum")


def sha256(path: Path, *, copy_to: Callable[[bytes], object] = lambda _: None) -> str:
    """Returns the digest of a file, and passes its content on while it is read."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            copy_to(chunk)
    return digest.hexdigest()


def copied(source: Path, target: Path) -> str:
    """Copies a file, readable for its owner only. Returns the digest of what was copied."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.open("xb") as file:
        digest = sha256(source, copy_to=file.write)
    target.chmod(0o400)
    return digest
