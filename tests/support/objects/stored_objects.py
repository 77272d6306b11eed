"""Writes and reads objects, and makes directories to store."""

from collections.abc import AsyncIterator
from pathlib import Path

from app.kit.directories import commit_directory
from app.kit.objects import Objects
from tests.support.stack import Database


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def read(objects: Objects, key: str) -> bytes:
    return b"".join([chunk async for chunk in objects.read(key)])


def stored_files(database: Database) -> list[Path]:
    """Returns the files below the directory of objects."""
    return [path for path in database.settings.objects_dir.rglob("*") if path.is_file()]


async def below(objects: Objects, directory: str) -> list[str]:
    return [child.key for child in await objects.children(directory)]


def committed_directory(directory: Path, **files: bytes) -> Path:
    with commit_directory(directory) as partial:
        for name, content in files.items():
            (partial / name).write_bytes(content)
    return directory


def matching_objects(directory: Path, pattern: str) -> list[Path]:
    return list(directory.rglob(pattern))
