"""Loads a missing tuned model into an engine, and unloads one. Must not know tenants.

Owns the local copies of adapters, one directory per engine name, from which an engine loads. A name
is never reused for other files, so a copy is never stale.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from app.domain.errors import AgentRftError, InvalidRequest
from app.domain.models.manifests import ManifestMismatch
from app.gateways.inference.inference import AdapterMissing, Inference
from app.gateways.objects import Objects
from app.gateways.objects.disk import remove
from app.settings.settings import Settings

log = structlog.get_logger()

_UNLOAD_TIMEOUT_S: Final = 5.0


class AdapterCache:
    """Cache of adapters on a disk that this process and the engine share, limited in bytes."""

    def __init__(self, objects: Objects, directory: Path, *, max_bytes: int) -> None:
        self._objects = objects
        self._directory = directory
        self._max_bytes = max_bytes

    async def load(self, inference: Inference, engine_name: str, *, object_key: str | None) -> None:
        """Loads an adapter into the engine. `object_key` is the key of the stored adapter, `None`
        for a base model, which needs none. Raises `Unavailable`.

        Does not raise if the adapter is missing or refused: the next chat then fails.
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
        with suppress(InvalidRequest):  # another call has loaded it in the meantime
            await inference.load_adapter(engine_name, path)

    async def forget(self, engine_name: str) -> None:
        """Removes the local copy of an unloaded adapter, if there is one."""
        await asyncio.to_thread(remove, self._directory / engine_name)

    async def _fetch(self, object_key: str, path: Path) -> None:
        try:
            await asyncio.to_thread(os.utime, path)  # the least recently used is removed first
        except FileNotFoundError:
            with suppress(FileExistsError):  # another process has fetched it in the meantime
                await self._objects.fetch_directory(object_key, path)

    async def _shrink(self, inference: Inference, *, keep: Path) -> None:
        """Unloads and removes the least recently used adapters until the cache fits its limit."""
        for path in await asyncio.to_thread(self._to_remove, keep):
            await unload_unused(inference, path.name)
            await asyncio.to_thread(remove, path)

    def _to_remove(self, keep: Path) -> list[Path]:
        adapters: list[tuple[float, int, Path]] = []
        for path in self._directory.iterdir():
            with suppress(FileNotFoundError):  # removed concurrently by another process
                size = sum(file.stat().st_size for file in path.iterdir())
                adapters.append((path.stat().st_mtime, size, path))
        total, removed = sum(size for _, size, _ in adapters), []
        for _, size, path in sorted(adapters):
            if total <= self._max_bytes:
                break
            if path != keep:
                removed.append(path)
                total -= size
        return removed


async def unload_unused(inference: Inference, engine_name: str) -> None:
    """Unloads an adapter, best effort: an unavailable engine or an adapter that is not loaded is
    not an error, and an adapter that stays loaded only uses memory.
    """
    try:
        async with asyncio.timeout(_UNLOAD_TIMEOUT_S):
            await inference.unload_adapter(engine_name)
    except AdapterMissing:
        return
    except (AgentRftError, TimeoutError) as error:
        log.warning("an adapter stays loaded in the engine", name=engine_name, error=repr(error))


def build_adapter_cache(settings: Settings, objects: Objects) -> AdapterCache:
    directory = settings.work_dir / "adapters"
    return AdapterCache(objects, directory, max_bytes=settings.adapter_cache_bytes)
