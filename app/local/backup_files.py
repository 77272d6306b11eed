"""The manifest of a backup: versions, and the SHA-256 of every other file in it; and its signature.

The signature is an HMAC of the manifest's bytes. It proves that the writer of the backup had the
secret key.
"""

import hashlib
import hmac
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from app.kit.disks import sha256_of_open
from app.kit.processes import BACKUP_UNUSABLE
from app.kit.settings_sources import derive_key, long_enough
from app.local.state import EmbeddedError, write_private_bytes

FORMAT: Final = 2
_FORMATS: Final = (1, FORMAT)
"""Readable formats; format 1 has no signature."""
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.hmac"
DUMP: Final = "database.dump"
SECRETS: Final = "secrets.json"
BASE_MODEL: Final = "base_model.json"
"""The model of the last `agent-rft up --model`, without its weights."""
OBJECTS: Final = "objects"
_MOST_MANIFEST_BYTES: Final = 1 << 30
"""Largest manifest, enough for about six million objects."""
_MOST_BYTES: Final = 1 << 16
_STRICT: Final = ConfigDict(strict=True, extra="forbid")


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, config=_STRICT)
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
    """Fingerprint of the secret key, for comparison with another one."""
    bucket: str | None
    """The bucket with the objects, which the backup then does not contain."""
    missing: list[str]
    """Keys of objects that rows refer to but the storage lacked."""
    files: dict[str, Sha256]
    """SHA-256 of each file, by its path in the backup."""


@dataclass(frozen=True, slots=True, config=_STRICT)
class BackupSecrets:
    """The keys that a backup includes on request."""

    secret_key: Annotated[str, AfterValidator(long_enough)]
    api_key: str | None = None
    admin_key: str | None = None


_MANIFESTS: Final = TypeAdapter(Manifest)
_SECRETS: Final = TypeAdapter(BackupSecrets)


def fingerprint(secret_key: str) -> str:
    return derive_key(secret_key, "backup/fingerprint").hex()[:32]


def write(directory: Path, manifest: Manifest, *, secret_key: str) -> None:
    content = json.dumps(asdict(manifest), indent=1).encode()
    write_private_bytes(directory / SIGNATURE, signature(content, secret_key))
    write_private_bytes(directory / MANIFEST, content)


def signature(content: bytes, secret_key: str) -> bytes:
    """Returns the HMAC of a manifest's bytes, as hexadecimal digits."""
    return hmac.digest(derive_key(secret_key, "backup/manifest"), content, "sha256").hex().encode()


def read_secrets(directory: Path) -> BackupSecrets | None:
    """Returns the secrets that the backup includes, if any. Raises `BackupUnusable`."""
    path = directory / SECRETS
    try:
        content = plain_content(path, most_bytes=_MOST_BYTES)
    except FileNotFoundError:
        return None
    with _described(path):
        return _SECRETS.validate_json(content)


def read_manifest(directory: Path, *, secret_key: str, unsigned: bool = False) -> Manifest:
    """Reads a manifest once its signature has been compared, or without one if `unsigned`.

    Raises `BackupUnusable`.
    """
    path = directory / MANIFEST
    try:
        content = plain_content(path, most_bytes=_MOST_MANIFEST_BYTES)
    except FileNotFoundError as error:
        raise BackupUnusable(
            f"{directory} has no {MANIFEST}: it is not a backup, or one that was interrupted"
        ) from error
    _check_signature(directory, content, secret_key, unsigned=unsigned)
    found = _parsed(path, content)
    if fingerprint(secret_key) != found.secret_key:
        raise BackupUnusable(_OTHER_KEY)
    for name in found.files:
        if not _belongs(name):
            raise BackupUnusable(f"{path} names {name!r}, which is not a path of a backup")
    if DUMP not in found.files:
        raise BackupUnusable(f"{path} does not name {DUMP}: it is not a backup")
    return found


_OTHER_KEY: Final = (
    "the secret key is not the one of the backup: set AGENT_RFT_SECRET_KEY to the key of the "
    "installation that it was taken of"
)


def _check_signature(directory: Path, content: bytes, secret_key: str, *, unsigned: bool) -> None:
    try:
        found = plain_content(directory / SIGNATURE, most_bytes=_MOST_BYTES)
    except FileNotFoundError as error:
        if unsigned:
            return
        raise BackupUnusable(
            f"{directory} has no {SIGNATURE}: the backup is not signed, so its author is unknown. "
            "If an older version wrote it and only you could change it since, say --unsigned"
        ) from error
    if hmac.compare_digest(found.strip(), signature(content, secret_key)):
        return
    path = directory / MANIFEST
    if _parsed(path, content).secret_key != fingerprint(secret_key):
        raise BackupUnusable(_OTHER_KEY)
    raise BackupUnusable(f"{path} was altered: it differs from its signature in {SIGNATURE}")


def _parsed(path: Path, content: bytes) -> Manifest:
    with _described(path):
        values = _object(content)
        if values.get("format") not in _FORMATS:
            raise BackupUnusable(
                f"{path} has another format than {FORMAT}: use the version that wrote the backup"
            )
        return _MANIFESTS.validate_json(content)


@contextmanager
def _described(path: Path) -> Iterator[None]:
    """Converts errors of a JSON file to `BackupUnusable`."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part)[:100] for part in first["loc"])
        raise BackupUnusable(f"{path} is damaged: {field}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise BackupUnusable(f"{path} cannot be read as JSON: {error}") from error


def _object(content: bytes) -> dict[str, Any]:
    values = json.loads(content)
    if not isinstance(values, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - one error for every bad file
    return values


def _belongs(name: str) -> bool:
    """Returns whether a backup may have a file of that path."""
    path = PurePosixPath(name)
    plain = str(path) == name and not path.is_absolute() and ".." not in path.parts
    below = plain and len(path.parts) > 1 and path.parts[0] == OBJECTS
    return (below and "\0" not in name) or name in (DUMP, SECRETS, BASE_MODEL)


def verify(directory: Path, manifest: Manifest) -> None:
    """Reads every file. Raises `BackupUnusable` with the first one that differs, is missing or is
    not in the manifest.
    """
    found = names(directory) - {MANIFEST, SIGNATURE}
    odd = sorted(found ^ manifest.files.keys())
    if odd:
        state = "is not in its manifest" if odd[0] in found else "is missing"
        raise BackupUnusable(f"{directory}: {odd[0]} {state}")
    for name, expected in manifest.files.items():
        check(directory, name, sha256(directory / name), expected=expected)


def check(directory: Path, name: str, digest: str, *, expected: str) -> None:
    """Raises `BackupUnusable` if the digest is not the expected one."""
    if not hmac.compare_digest(digest, expected):
        raise BackupUnusable(f"{directory}: {name} differs from its checksum")


_CHUNK_BYTES: Final = 1 << 20
_KINDS: Final = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


class BackupUnusable(EmbeddedError):
    """A backup that is incomplete, altered, not signed, or of another version."""

    exit_code = BACKUP_UNUSABLE


def names(directory: Path) -> set[str]:
    """Returns the paths, below the directory, of all its files at any depth. Raises
    `BackupUnusable` for anything but files and directories.
    """
    found: set[str] = set()
    pending = [directory]
    while pending:
        with _failures(pending[-1]), os.scandir(pending.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                    continue
                if not entry.is_file(follow_symlinks=False):
                    raise _not_plain(path, entry.stat(follow_symlinks=False).st_mode)
                found.add(str(path.relative_to(directory)))
    return found


def plain_content(path: Path, *, most_bytes: int) -> bytes:
    """Returns the content of a small file. Raises `FileNotFoundError` and `BackupUnusable`."""
    with open_backup_file(path) as file:
        found = file.read(most_bytes + 1)
    if len(found) > most_bytes:
        raise BackupUnusable(
            f"{path} is larger than {most_bytes} bytes: it is not a file of a backup"
        )
    return found


def sha256(path: Path) -> str:
    """Returns the digest of a file. Raises `FileNotFoundError` and `BackupUnusable`."""
    with open_backup_file(path) as file:
        return sha256_of_open(file)


def copy_private(source: Path, target: Path) -> str:
    """Copies a file, readable for its owner only. Returns the digest of the copied bytes."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with open_backup_file(source) as file, target.open("xb") as copy:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            copy.write(chunk)
    target.chmod(0o400)
    return digest.hexdigest()


@contextmanager
def open_backup_file(path: Path) -> Iterator[BufferedReader]:
    """Opens a file for reading. Raises `FileNotFoundError`, and `BackupUnusable` for anything but
    a plain file that can be read.
    """
    with _failures(path):
        # Without a wait for the other end of a pipe; the kernel refuses a link.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise _not_plain(path, mode)
    with os.fdopen(handle, "rb") as file:
        yield file


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise _not_plain(path, stat.S_IFLNK) from error
        raise BackupUnusable(f"{path} cannot be read: {error.strerror}") from error


def _not_plain(path: Path, mode: int) -> BackupUnusable:
    kind = _KINDS.get(stat.S_IFMT(mode), "no plain file")
    return BackupUnusable(f"{path} is {kind}: a backup has plain files only")
