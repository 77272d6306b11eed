"""The journal as an episode sees it: what was sampled or answered is remembered before it is used.

After a kill the step is replayed with the same keys; an entry that is there is used as it is, so
no tool, grader or sample is asked twice for what it already answered.
"""

from typing import Any, Protocol


class Journal(Protocol):
    """Durable map from a derived key to a JSON payload."""

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        """The remembered payload, or `None` when there is none or the request was another one."""
        ...

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        """Remember; returns once the entry is durable. Raises `LeaseLost` if the run was taken."""
        ...


class InMemoryJournal:
    """Twin for tests and offline runs: remembers for the life of the process."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str, dict[str, Any]]] = {}

    async def get(self, key: str, request_sha256: str) -> dict[str, Any] | None:
        entry = self.entries.get(key)
        return entry[1] if entry is not None and entry[0] == request_sha256 else None

    async def put(self, key: str, request_sha256: str, payload: dict[str, Any]) -> None:
        self.entries[key] = (request_sha256, payload)
