"""Remember, then use: the one way an episode asks anything of the world outside."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

from workers.journal.journal import Journal


async def replay_or_ask(
    journal: Journal, key: str, request: bytes, ask: Callable[[], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """The journal's payload for exactly this request, or a fresh one once it is durable.

    What `ask` raises is not remembered: after a resume it is worth asking again.
    """
    digest = hashlib.sha256(request).hexdigest()
    known = await journal.get(key, digest)
    if known is not None:
        return known
    payload = await ask()
    await journal.put(key, digest, payload)
    return payload
