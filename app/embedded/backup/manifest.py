"""The manifest of a backup: versions, and the SHA-256 of every other file in it; and its signature.

Owns: the layout of a backup's directory and the reading of one. Promises: the manifest is written
last, so a directory without one is not a backup; a backup is used only if the manifest has the
signature of the installation's secret key and every file matches the manifest. The signature is an
HMAC of the manifest's bytes. It proves that the writer of the backup had the secret key.
"""

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from app.embedded.backup import plain_files
from app.embedded.backup.plain_files import BackupUnusable
from app.embedded.state import write_private_bytes
from app.settings.secret_key import derive_key, long_enough

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
        content = plain_files.content(path, most_bytes=_MOST_BYTES)
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
        content = plain_files.content(path, most_bytes=_MOST_MANIFEST_BYTES)
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
        found = plain_files.content(directory / SIGNATURE, most_bytes=_MOST_BYTES)
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
    found = plain_files.names(directory) - {MANIFEST, SIGNATURE}
    odd = sorted(found ^ manifest.files.keys())
    if odd:
        state = "is not in its manifest" if odd[0] in found else "is missing"
        raise BackupUnusable(f"{directory}: {odd[0]} {state}")
    for name, expected in manifest.files.items():
        check(directory, name, plain_files.sha256(directory / name), expected=expected)


def check(directory: Path, name: str, digest: str, *, expected: str) -> None:
    """Raises `BackupUnusable` if the digest is not the expected one."""
    if not hmac.compare_digest(digest, expected):
        raise BackupUnusable(f"{directory}: {name} differs from its checksum")
