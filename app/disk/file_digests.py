"""Computes the SHA-256 of files, for manifests, downloads and backups.

Below all rooms of both planes, because each of them checks files.
"""

import hashlib
from io import BufferedReader
from pathlib import Path


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return sha256_of_open(file)


def sha256_of_open(file: BufferedReader) -> str:
    """Hashes the file from its current position to its end."""
    return hashlib.file_digest(file, "sha256").hexdigest()
