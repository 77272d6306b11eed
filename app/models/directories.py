"""Directories with a manifest that are written atomically.

A committed directory never changes. It survives a power failure only after it was copied to object
storage (`Objects.put_directory`).
"""

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from app.kit.disks import sha256_of
from app.models.adapters import (
    MANIFEST,
    ManifestMismatch,
    check_digests,
    manifest_text,
    read_manifest,
)
from app.models.compute import MeasuredChoice
from app.models.models import BaseModelSpec

__all__ = [
    "MANIFEST",
    "ManifestMismatch",
    "commit_directory",
    "directory_digest",
    "verify_directory",
]


@contextmanager
def commit_directory(destination: Path) -> Iterator[Path]:
    """Yields an empty directory for plain files; at the end of the block it becomes `destination`.

    If the block raises, the directory is removed; a killed process may leave a `.partial` directory
    beside the destination. Raises `FileExistsError` if the destination exists: a version is never
    overwritten.
    """
    if destination.exists():
        raise FileExistsError(destination)
    destination.parent.mkdir(parents=True, exist_ok=True)
    partial = destination.parent / f".{destination.name}.{uuid4().hex}.partial"
    partial.mkdir()
    try:
        yield partial
        (partial / MANIFEST).write_text(manifest_text(_digests(partial)), encoding="utf-8")
        partial.rename(destination)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def verify_directory(directory: Path) -> None:
    """Checks a directory. Raises `ManifestMismatch` if its files differ from those committed."""
    try:
        content = (directory / MANIFEST).read_bytes()
    except OSError as error:
        raise ManifestMismatch(f"{directory.name} has no readable manifest: {error}") from error
    check_digests(directory.name, read_manifest(directory.name, content), _digests(directory))


def directory_digest(directory: Path) -> str:
    """Returns the digest of a committed directory, a function of file names and contents."""
    return hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()


def _digests(directory: Path) -> dict[str, str]:
    return {
        path.name: sha256_of(path) for path in sorted(directory.iterdir()) if path.name != MANIFEST
    }


FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk or a quota without space."""


def flush(path: Path) -> None:
    """Flushes a file, or the entries of a directory, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_plain(path: Path) -> bool:
    """Returns true for a file that exists and is not a link, pipe, device or directory."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def plain_files(directory: Path, *, name: str) -> list[Path]:
    """Returns the files of a committed directory, in order of name. Raises `ManifestMismatch` for
    anything but a plain file; `name` names the directory in the message.
    """
    paths = sorted(directory.iterdir())
    for path in paths:
        if not is_plain(path):
            raise ManifestMismatch(
                f"{name} differs from its manifest: {path.name} is not a plain file"
            )
    return paths


def check_directory(directory: Path, *, name: str) -> None:
    """Checks a directory against its manifest. Raises `FileNotFoundError` if it does not exist,
    `ManifestMismatch` if it is damaged.
    """
    try:
        files = {path.name: path for path in plain_files(directory, name=name)}
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(name) from None
    manifest = files.pop(MANIFEST, None)
    expected = read_manifest(name, b"" if manifest is None else manifest.read_bytes())
    actual = {file: sha256_of(path) for file, path in files.items()}
    check_digests(name, expected, actual)


def measured_choice(file: Path) -> MeasuredChoice | None:
    try:
        return MeasuredChoice.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, not UTF-8, or not valid
        return None


def measured_choices(directory: Path) -> list[MeasuredChoice]:
    """Returns all that can be read, in order of their files."""
    found = (measured_choice(file) for file in sorted(directory.glob("*.json")))
    return [kept for kept in found if kept is not None]


def write_choice(file: Path, kept: MeasuredChoice) -> None:
    """Raises `OSError` if the file cannot be written."""
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_suffix(f".{os.getpid()}")
    scratch.write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
    scratch.replace(file)


_FLOAT32_BYTES: Final = 4
_ITEM_BYTES: Final = {"bfloat16": 2, "float16": 2, "float32": _FLOAT32_BYTES}


@dataclass(frozen=True, slots=True)
class BaseWeights:
    merged_bytes: int
    """Size of the weights in float32, as in an export; 0 if unknown."""
    is_quantized: bool
    """True for weights into which no adapter can be merged without loss."""


def base_weights(spec: BaseModelSpec) -> BaseWeights:
    directory = Path(spec.path)
    try:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        size = sum(path.stat().st_size for path in directory.glob("*.safetensors"))
    except (OSError, ValueError):
        return BaseWeights(0, is_quantized=False)
    if not isinstance(config, dict):
        return BaseWeights(0, is_quantized=False)
    stored_as = config.get("dtype", config.get("torch_dtype"))
    return BaseWeights(
        size * _FLOAT32_BYTES // _ITEM_BYTES.get(str(stored_as), _FLOAT32_BYTES),
        is_quantized=bool(config.get("quantization_config")),
    )
