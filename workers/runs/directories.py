"""A job's committed directories below one key, written and read in the claim's scratch directory.

Owns the copies between scratch directory and object storage. Promises that a directory counts only
once it is stored, and that a short outage of the storage only costs time. Must not know the
contents.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.gateways.objects import Objects
from app.gateways.objects.disk import remove
from workers.processes.retry import retry_while_unavailable
from workers.progress import PROGRESS


class JobDirectories:
    def __init__(self, objects: Objects, key: str, scratch: Path) -> None:
        self._objects = objects
        self._key = key
        self._scratch = scratch

    def path(self, name: str) -> Path:
        """Returns the local path of a directory: `store` reads it, `fetch` writes it."""
        return self._scratch / name

    def key(self, name: str) -> str:
        return f"{self._key}/{name}"

    async def store(self, *names: str) -> None:
        """Stores directories that were committed in the scratch directory."""
        await asyncio.gather(*(self._store(name) for name in names))

    async def _store(self, name: str) -> None:
        async def put() -> None:
            # An earlier call whose answer was lost, or another claim, stored the same content
            # already.
            with suppress(FileExistsError):
                await self._objects.put_directory(self.key(name), self.path(name))

        await retry_while_unavailable(put)
        PROGRESS.mark(f"{name} stored")

    async def fetch(self, name: str) -> Path:
        """Returns the local copy. Raises `FileNotFoundError` and `ManifestMismatch`."""
        path = self.path(name)
        if not path.exists():
            await retry_while_unavailable(
                lambda: self._objects.fetch_directory(self.key(name), path)
            )
            PROGRESS.mark(f"{name} fetched")
        return path

    async def discard(self, name: str) -> None:
        """Removes a directory from scratch and storage."""
        await self.forget(name)
        await retry_while_unavailable(lambda: self._objects.delete(self.key(name)))

    async def forget(self, *names: str) -> None:
        """Removes directories from the scratch directory alone."""
        for name in names:
            await asyncio.to_thread(remove, self.path(name))

    async def names(self) -> Sequence[str]:
        """Returns the names of the stored directories, in order."""
        children = await retry_while_unavailable(lambda: self._objects.children(self._key))
        return [child.name for child in children]
