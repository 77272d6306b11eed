"""The journal as an episode sees it: what was sampled or answered is remembered before it is used.

After a kill the step is replayed with the same keys; an entry that is there is used as it is, so
no tool, grader or sample is asked twice for what it already answered.
"""

import hashlib
from typing import Any, Protocol

from app.domain.ids import is_turn_key


class Journal(Protocol):
    """Durable map from a derived key to a JSON payload."""

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        """The remembered payload, or `None` when there is none or the request was another one."""
        ...

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        """Remember; returns once the entry is durable. Raises `LeaseLost` if the run was taken."""
        ...


class AdapterJournal:
    """A journal whose sampled turns are those of one adapter: what another one sampled under the
    same key is not known. A claim that trains a step anew need not make the same adapter of it, so
    what it measures may not be told from what an earlier one was asked.
    """

    def __init__(self, journal: Journal, adapter: str) -> None:
        """`adapter`: what tells it from any other."""
        self._journal = journal
        self._adapter = adapter

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        return await self._journal.get(key, self._of_adapter(key, request_sha256))

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        await self._journal.put(key, self._of_adapter(key, request_sha256), payload)

    def _of_adapter(self, key: str, request_sha256: str) -> str:
        """Tools and graders answer a request whoever wrote it."""
        if not is_turn_key(key):
            return request_sha256
        return hashlib.sha256(f"{self._adapter}/{request_sha256}".encode()).hexdigest()


class InMemoryJournal:
    """Twin for tests and offline runs: remembers for the life of the process."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str, dict[str, Any]]] = {}

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        entry = self.entries.get(key)
        return entry[1] if entry is not None and entry[0] == request_sha256 else None

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        self.entries[key] = (request_sha256, payload)
