"""Has an engine load a tuned model that it lacks, and forget one. Must not know tenants.

Owns the local copies of adapters, one directory per engine name, from which an engine loads. A name
is never used for other files, so a copy is never stale.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from app.domain.data.manifests import ManifestMismatch
from app.domain.errors import AgentRftError, InvalidRequest
from app.gateways.inference.inference import AdapterMissing, Inference
from app.gateways.objects import Objects
from app.gateways.objects.disk import remove
from app.settings import Settings

log = structlog.get_logger()

_UNLOAD_TIMEOUT_S: Final = 5.0


class AdapterCache:
    """Adapters on the disk that this process shares with the engine, up to a number of bytes."""

    def __init__(self, objects: Objects, directory: Path, *, max_bytes: int) -> None:
        self._objects = objects
        self._directory = directory
        self._max_bytes = max_bytes

    async def load(self, inference: Inference, engine_name: str, *, object_key: str | None) -> None:
        """Has the engine load an adapter. `object_key` names the stored adapter; `None` means a
        base model, which needs none. Raises `Unavailable`.

        Nothing is raised when the adapter is gone or refused: the next chat finds it missing.
        """
        if object_key is None:
            return
        path = self._directory / engine_name
        try:
            await self._fetch(object_key, path)
        except (FileNotFoundError, ManifestMismatch) as error:
            log.warning("adapter cannot be read", name=engine_name, error=repr(error))
            return
        await self._shrink(inference, keep=path)
        with suppress(InvalidRequest):  # another call has loaded it meanwhile
            await inference.load_adapter(engine_name, path)

    async def _fetch(self, object_key: str, path: Path) -> None:
        try:
            await asyncio.to_thread(os.utime, path)  # the last use decides which one leaves
        except FileNotFoundError:
            with suppress(FileExistsError):  # another process has fetched it meanwhile
                await self._objects.fetch_directory(object_key, path)

    async def _shrink(self, inference: Inference, *, keep: Path) -> None:
        """Unloads and removes the adapters used longest ago while all take too much."""
        for path in await asyncio.to_thread(self._too_many, keep):
            await unload_unused(inference, path.name)
            await asyncio.to_thread(remove, path)

    def _too_many(self, keep: Path) -> list[Path]:
        aged: list[tuple[float, int, Path]] = []
        for path in self._directory.iterdir():
            with suppress(FileNotFoundError):  # another process removed it just now
                size = sum(file.stat().st_size for file in path.iterdir())
                aged.append((path.stat().st_mtime, size, path))
        total, leaving = sum(size for _, size, _ in aged), []
        for _, size, path in sorted(aged):
            if total <= self._max_bytes:
                break
            if path != keep:
                leaving.append(path)
                total -= size
        return leaving


async def unload_unused(inference: Inference, engine_name: str) -> None:
    """Unloads an adapter if the engine can: one that is away or has never loaded it is no error,
    and one that stays loaded only takes memory.
    """
    try:
        async with asyncio.timeout(_UNLOAD_TIMEOUT_S):
            await inference.unload_adapter(engine_name)
    except AdapterMissing:
        return
    except (AgentRftError, TimeoutError) as error:
        log.warning("an adapter stays in the engine", name=engine_name, error=repr(error))


def build_adapter_cache(settings: Settings, objects: Objects) -> AdapterCache:
    directory = settings.work_dir / "adapters"
    return AdapterCache(objects, directory, max_bytes=settings.adapter_cache_bytes)
