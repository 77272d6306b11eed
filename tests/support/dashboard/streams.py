"""Reads server-sent events from a socket, as a browser's `EventSource` does."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass(slots=True)
class Message:
    event: str
    data: Any
    id: str | None


@dataclass(slots=True)
class EventSource:
    """One connection. `last_id` is what a client sends when it connects again."""

    reply: httpx.Response
    last_id: str | None = None
    comments: int = 0
    _fields: dict[str, str] = field(default_factory=dict)

    async def messages(self) -> AsyncIterator[Message]:
        """Yields messages until the server ends the stream."""
        async for line in self.reply.aiter_lines():
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                self._fields[name] = value
            elif "data" in self._fields:
                fields, self._fields = self._fields, {}
                self.last_id = fields.get("id", self.last_id)
                yield Message(fields["event"], json.loads(fields["data"]), fields.get("id"))
            else:
                self._fields = {}


@asynccontextmanager
async def reading(
    http: httpx.AsyncClient, path: str, *, last_id: str | None = None, **headers: str
) -> AsyncIterator[EventSource]:
    sent = headers | ({} if last_id is None else {"Last-Event-ID": last_id})
    async with http.stream("GET", path, headers=sent) as reply:
        yield EventSource(reply, last_id)
