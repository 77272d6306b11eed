"""Objects in memory: the twin of an object storage, for tests."""

import hashlib
import time
from collections.abc import AsyncGenerator, AsyncIterable
from pathlib import Path

from app.domain.models.manifests import MANIFEST, check_digests, read_manifest
from app.gateways.objects.disk import committed_files, make_read_only
from app.gateways.objects.objects import (
    CHUNK_BYTES,
    StoredChild,
    StoredObject,
    check_size,
    normalised_key,
)


class InMemoryObjects:
    """Implements `Objects`."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self._written: dict[str, float] = {}

    async def put(
        self, key: str, chunks: AsyncIterable[bytes], *, max_bytes: int | None = None
    ) -> StoredObject:
        name = normalised_key(key)
        content = b""
        async for chunk in chunks:
            content += chunk
            check_size(len(content), max_bytes)
        self._store(name, content)
        return StoredObject(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())

    async def read(
        self, key: str, *, start: int = 0, chunk_bytes: int = CHUNK_BYTES
    ) -> AsyncGenerator[bytes, None]:
        content = self._get(key)
        for first in range(start, len(content), chunk_bytes):
            yield content[first : first + chunk_bytes]

    async def fetch(self, key: str, destination: Path) -> None:
        _write(destination, self._get(key))

    async def put_directory(self, key: str, directory: Path) -> None:
        directory_name = normalised_key(key)
        files = {path.name: path.read_bytes() for path in committed_files(directory)}
        if f"{directory_name}/{MANIFEST}" in self.stored:
            raise FileExistsError(key)
        for name, content in files.items():
            self._store(f"{directory_name}/{name}", content)

    async def fetch_directory(self, key: str, destination: Path) -> None:
        below = f"{normalised_key(key)}/"
        files = {name: self.stored[below + name] for name in self._names(key)}
        if not files:
            raise FileNotFoundError(key)
        expected = read_manifest(key, files.get(MANIFEST, b""))
        actual = {
            name: hashlib.sha256(content).hexdigest()
            for name, content in files.items()
            if name != MANIFEST
        }
        check_digests(key, expected, actual)
        _write_all(destination, files)

    async def delete(self, key: str) -> None:
        name, below = normalised_key(key), f"{normalised_key(key)}/"
        for stored in [each for each in self.stored if each == name or each.startswith(below)]:
            del self.stored[stored]

    async def children(self, directory: str) -> list[StoredChild]:
        now, children = time.time(), {}
        for rest in self._names(directory):
            name, below, _ = rest.partition("/")
            key = f"{normalised_key(directory)}/{name}"
            children[key] = (
                StoredChild(key, None, None)
                if below
                else StoredChild(key, now - self._written[key], len(self.stored[key]))
            )
        return [children[key] for key in sorted(children)]

    def _names(self, directory: str) -> list[str]:
        prefix = f"{normalised_key(directory)}/"
        return [key.removeprefix(prefix) for key in self.stored if key.startswith(prefix)]

    def _get(self, key: str) -> bytes:
        name = normalised_key(key)
        if name not in self.stored:
            raise FileNotFoundError(key)
        return self.stored[name]

    def _store(self, key: str, content: bytes) -> None:
        self.stored[key] = content
        self._written[key] = time.time()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    make_read_only(path)


def _write_all(directory: Path, files: dict[str, bytes]) -> None:
    directory.mkdir(parents=True)
    for name, content in files.items():
        _write(directory / name, content)
