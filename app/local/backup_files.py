"""The files of a backup: each is plain, of a known name, and has its SHA-256 in the manifest.

The signature is an HMAC of the manifest's bytes. It proves that the writer of the backup had the
secret key.
"""

import hashlib
import hmac
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal, cast, get_args

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from app.kit.directories import sha256_of_open
from app.kit.processes import BACKUP_UNUSABLE
from app.kit.settings_sources import derive_key, long_enough
from app.local.base_model import ChosenModel
from app.local.state import EmbeddedError, write_private_bytes

FORMAT: Final = 3
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.hmac"
DUMP: Final = "database.dump"
OBJECTS: Final = "objects.tar"
SECRETS: Final = "secrets.json"
_MOST_BYTES: Final = 1 << 26
"""Largest manifest, signature or file of secrets."""
_CHUNK_BYTES: Final = 1 << 20
_STRICT: Final = ConfigDict(strict=True, extra="forbid")
_KINDS: Final = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}

FileName = Literal["database.dump", "objects.tar", "secrets.json"]
NAMES: Final[tuple[FileName, ...]] = get_args(FileName)
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class BackupUnusable(EmbeddedError):
    exit_code = BACKUP_UNUSABLE


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
    objects: int
    """Number of files in `objects.tar`."""
    base_model: ChosenModel | None
    """The model of the last `agent-rft up --model`, without its weights."""
    missing: list[str]
    """Keys of objects that rows refer to but the storage lacked."""
    files: dict[FileName, Sha256]


@dataclass(frozen=True, slots=True, config=_STRICT)
class BackupSecrets:
    secret_key: Annotated[str, AfterValidator(long_enough)]
    api_key: str | None = None
    admin_key: str | None = None


_MANIFESTS: Final = TypeAdapter(Manifest)
_SECRETS: Final = TypeAdapter(BackupSecrets)
_OTHER_KEY: Final = (
    "the secret key is not the one of the backup: set AGENT_RFT_SECRET_KEY to the key of the "
    "installation that it was taken of"
)


def fingerprint(secret_key: str) -> str:
    return derive_key(secret_key, "backup/fingerprint").hex()[:32]


def write(directory: Path, manifest: Manifest, *, secret_key: str) -> None:
    content = _MANIFESTS.dump_json(manifest, indent=1)
    write_private_bytes(directory / SIGNATURE, signature(content, secret_key))
    write_private_bytes(directory / MANIFEST, content)


def signature(content: bytes, secret_key: str) -> bytes:
    return hmac.digest(derive_key(secret_key, "backup/manifest"), content, "sha256").hex().encode()


def read_secrets(directory: Path) -> BackupSecrets | None:
    path = directory / SECRETS
    try:
        content = _content(path)
    except FileNotFoundError:
        return None
    with _described(path):
        return _SECRETS.validate_json(content)


def read_manifest(directory: Path, *, secret_key: str, unsigned: bool = False) -> Manifest:
    """Raises `BackupUnusable`, also for a wrong signature; for none unless `unsigned`."""
    path = directory / MANIFEST
    try:
        content = _content(path)
    except FileNotFoundError as error:
        raise BackupUnusable(
            f"{directory} has no {MANIFEST}: it is not a backup, or one that was interrupted"
        ) from error
    is_genuine = _is_genuine(directory, content, secret_key, unsigned=unsigned)
    found = _parsed(path, content)
    if fingerprint(secret_key) != found.secret_key:
        raise BackupUnusable(_OTHER_KEY)
    if not is_genuine:
        raise BackupUnusable(f"{path} was altered: it differs from its signature in {SIGNATURE}")
    if DUMP not in found.files:
        raise BackupUnusable(f"{path} does not name {DUMP}: it is not a backup")
    return found


def _is_genuine(directory: Path, content: bytes, secret_key: str, *, unsigned: bool) -> bool:
    try:
        found = _content(directory / SIGNATURE)
    except FileNotFoundError as error:
        if unsigned:
            return True
        raise BackupUnusable(
            f"{directory} has no {SIGNATURE}: the backup is not signed, so its author is unknown. "
            "If only you could change it since it was taken, say --unsigned"
        ) from error
    return hmac.compare_digest(found.strip(), signature(content, secret_key))


def _parsed(path: Path, content: bytes) -> Manifest:
    with _described(path):
        values = json.loads(content)
        if not isinstance(values, dict):
            raise ValueError("it is not an object")  # noqa: TRY004 - one error for every bad file
        if values.get("format") != FORMAT:
            raise BackupUnusable(
                f"{path} has another format than {FORMAT}: use the version that wrote the backup"
            )
        return _MANIFESTS.validate_json(content)


@contextmanager
def _described(path: Path) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part)[:100] for part in first["loc"])
        raise BackupUnusable(f"{path} is damaged: {field}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise BackupUnusable(f"{path} cannot be read as JSON: {error}") from error


def verify(directory: Path, manifest: Manifest) -> None:
    """Reads every file. Raises `BackupUnusable` with the first that is not as the manifest says."""
    expected = {*manifest.files, MANIFEST, SIGNATURE}
    for path in sorted(directory.iterdir()):
        with open_plain(path):
            pass
        if path.name not in expected:
            raise BackupUnusable(f"{directory}: {path.name} is not in its manifest")
    for name in manifest.files:
        with open_verified(directory, manifest, name):
            pass


def sha256(path: Path) -> str:
    with open_plain(path) as file:
        return sha256_of_open(file)


class _Hashed:
    """A file that hashes what is read from it, for `tarfile` and `shutil.copyfileobj`."""

    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = _CHUNK_BYTES) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        return chunk


@contextmanager
def open_verified(directory: Path, manifest: Manifest, name: FileName) -> Iterator[_Hashed]:
    """Raises `BackupUnusable` after the block for other bytes: the file may change any time."""
    try:
        with open_plain(directory / name) as file:
            hashed = _Hashed(file)
            yield hashed
            while hashed.read():
                pass
    except FileNotFoundError:
        raise BackupUnusable(f"{directory}: {name} is missing") from None
    if not hmac.compare_digest(hashed.digest.hexdigest(), manifest.files[name]):
        raise BackupUnusable(f"{directory}: {name} differs from its checksum")


def copy(directory: Path, manifest: Manifest, name: FileName, target: Path) -> None:
    with open_verified(directory, manifest, name) as source, target.open("xb") as file:
        shutil.copyfileobj(source, file, _CHUNK_BYTES)


def pack(staging: Path, archive: Path) -> int:
    paths = [path for path in sorted(staging.rglob("*")) if path.is_file()]
    with tarfile.open(archive, "x", dereference=True) as packed:
        for path in paths:
            packed.add(path, str(path.relative_to(staging)))
    return len(paths)


def unpack(directory: Path, manifest: Manifest, target: Path) -> None:
    with open_verified(directory, manifest, OBJECTS) as source:
        try:
            with tarfile.open(fileobj=cast("BufferedReader", source), mode="r|") as archive:
                for member in archive:
                    _write_member(archive, member, target)
        except tarfile.TarError as error:
            raise BackupUnusable(f"{directory}: {OBJECTS} cannot be read: {error}") from error


def _write_member(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    name = PurePosixPath(member.name)
    content = archive.extractfile(member) if member.isreg() else None
    if content is None or name.is_absolute() or {"..", "."} & {*name.parts} or "\0" in member.name:
        raise BackupUnusable(f"{OBJECTS} has {member.name!r}, which is not a file of a backup")
    path = target / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.open("xb") as file:
        shutil.copyfileobj(content, file, _CHUNK_BYTES)
    path.chmod(0o400)


def _content(path: Path) -> bytes:
    with open_plain(path) as file:
        found = file.read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        raise BackupUnusable(
            f"{path} is larger than {_MOST_BYTES} bytes: it is not a file of a backup"
        )
    return found


@contextmanager
def open_plain(path: Path) -> Iterator[BufferedReader]:
    """Raises `FileNotFoundError`, and `BackupUnusable` for all but a readable plain file."""
    try:
        file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 - `Path` has no opener
    except FileNotFoundError:
        raise
    except OSError as error:
        _refuse_odd(path, path.lstat().st_mode)
        raise BackupUnusable(f"{path} cannot be read: {error.strerror}") from error
    with file:
        _refuse_odd(path, os.fstat(file.fileno()).st_mode)
        yield file


def _open_at_once(path: str, flags: int) -> int:
    """Opens a file without a wait for the other end of a pipe, and no link."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _refuse_odd(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no plain file")
        raise BackupUnusable(f"{path} is {kind}: a backup has plain files only")
