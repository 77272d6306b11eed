"""Sampled turns, tool outputs and grades under derived keys; a replay uses them unchanged."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from app.kit.ids import is_turn_key


class Journal(Protocol):
    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None: ...

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        """Returns once it is durable. Raises `LeaseLost`, and for numbers that are not finite."""
        ...


class AdapterJournal:
    """Binds turns to the adapter that sampled them: a claim that trains again may have another."""

    def __init__(self, journal: Journal, adapter: str) -> None:
        self._journal = journal
        self._adapter = adapter

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        return await self._journal.get(key, self._with_adapter(key, request_sha256))

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        await self._journal.put(key, self._with_adapter(key, request_sha256), payload)

    def _with_adapter(self, key: str, request_sha256: str) -> str:
        """Entries of tools and graders keep their digest: the request alone decides them."""
        if not is_turn_key(key):
            return request_sha256
        return hashlib.sha256(f"{self._adapter}/{request_sha256}".encode()).hexdigest()


class InMemoryJournal:
    """Implements `Journal` in memory. Stores a payload as Postgres does: as JSON, without NaN."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str, dict[str, Any]]] = {}

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        entry = self.entries.get(key)
        return entry[1] if entry is not None and entry[0] == request_sha256 else None

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        stored = json.loads(json.dumps(payload, allow_nan=False))
        self.entries[key] = (request_sha256, stored)


T = TypeVar("T")


async def replay_or_ask(
    journal: Journal,
    key: str,
    request: bytes,
    ask: Callable[[], Awaitable[T]],
    *,
    codec: TypeAdapter[T],
) -> T:
    """Returns the journalled answer to exactly this request, or a new one once it is durable. An
    exception of `ask` is not journalled: the call is repeated after a resume.
    """
    digest = hashlib.sha256(request).hexdigest()
    payload = await journal.get(key, digest)
    if payload is not None:
        return codec.validate_python(payload)
    answer = await ask()
    await journal.put(key, digest, codec.dump_python(answer))
    return answer
