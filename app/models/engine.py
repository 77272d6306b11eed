"""The protocol of inference engines, and the cache of the adapters that they load."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp
import structlog

from app.jobs.results import EngineMachine
from app.kit.directories import ManifestMismatch
from app.kit.errors import AgentRftError, InvalidRequest, NotFound, Unavailable
from app.kit.objects import Objects, remove
from app.settings import Settings

CONCURRENT_REQUESTS: Final = 512


class Connections:
    """Connection pool, opened by the first request: a session belongs to an event loop."""

    def __init__(self, headers: dict[str, str], timeout: aiohttp.ClientTimeout) -> None:
        self._headers = headers
        self._timeout = timeout
        self._opened: aiohttp.ClientSession | None = None

    def session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONCURRENT_REQUESTS),
                headers=self._headers,
                timeout=self._timeout,
                trust_env=False,
            )
        return self._opened

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None


class EngineUnavailable(Unavailable):
    """The engine does not answer or has failed; a later call may succeed."""


class EngineFailed(EngineUnavailable):
    """The engine answered with status 500."""


class AdapterMissing(NotFound):
    """The engine does not serve that model name; loading the adapter may help."""

    default_code = "model_not_found"


@dataclass(frozen=True, slots=True)
class Completion:
    """One continuation: N `token_ids` with `logprobs`, a final stop token included."""

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str
    prompt_logprobs: tuple[float | None, ...] | None = None
    """Log-prob of each prompt token at temperature 1, the first `None`, if requested."""


class Inference(Protocol):
    """Every call raises `EngineUnavailable`, `AdapterMissing` or `InvalidRequest`; none retries."""

    async def complete(
        self,
        model: str,
        prompt_token_ids: list[int],
        *,
        max_tokens: int,
        temperature: float,
        seed: int,
        stop_token_ids: tuple[int, ...],
        prompt_logprobs: bool = False,
    ) -> Completion:
        """Continues token ids. Only `stop_token_ids` stop; EOS does not by itself."""

    async def load_adapter(self, name: str, path: Path) -> None:
        """Serves a PEFT directory under a new name. Raises `InvalidRequest`."""

    async def unload_adapter(self, name: str) -> None: ...

    async def model_names(self) -> list[str]: ...

    async def machine(self, model: str) -> EngineMachine | None:
        """Returns the engine's machine for a base model; `None` if it does not say, as vLLM."""

    async def response_formats(self, model: str) -> tuple[str, ...] | None:
        """Returns the formats of a base model; `None` for an engine that does not say, as vLLM."""

    async def healthy(self) -> bool: ...

    async def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Runs a chat with an engine's name as `model`; `reasoning_effort` reaches its template."""

    def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        """Streams a chat as events. Closing the iterator cancels the generation."""

    def with_cache_namespace(self, salt: str) -> "Inference":
        """Returns a client whose prompt cache is shared only with this salt."""

    async def aclose(self) -> None: ...


log = structlog.get_logger()

_UNLOAD_TIMEOUT_S: Final = 5.0


class AdapterCache:
    """Cache of adapters on a disk that this process and the engine share, limited in bytes."""

    def __init__(self, objects: Objects, directory: Path, *, max_bytes: int) -> None:
        self._objects = objects
        self._directory = directory
        self._max_bytes = max_bytes

    async def load(self, inference: Inference, engine_name: str, *, object_key: str | None) -> None:
        """Loads a stored adapter. Raises `Unavailable`, not for a missing or refused."""
        if object_key is None:
            return
        path = self._directory / engine_name
        try:
            await self._fetch(object_key, path)
        except (FileNotFoundError, ManifestMismatch) as error:
            log.warning("adapter cannot be read", name=engine_name, error=repr(error))
            return
        for unused in await asyncio.to_thread(self._to_remove, path):
            await unload_unused(inference, unused.name)
            await asyncio.to_thread(remove, unused)
        with suppress(InvalidRequest):  # another call has loaded it in the meantime
            await inference.load_adapter(engine_name, path)

    async def forget(self, engine_name: str) -> None:
        await asyncio.to_thread(remove, self._directory / engine_name)

    async def _fetch(self, object_key: str, path: Path) -> None:
        try:
            await asyncio.to_thread(os.utime, path)  # the least recently used is removed first
        except FileNotFoundError:
            with suppress(FileExistsError):  # another process has fetched it in the meantime
                await self._objects.fetch_directory(object_key, path)

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
