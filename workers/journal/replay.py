"""Calls external systems at most once: replays a journalled answer, or journals a new one.

Owns the order: an answer is durable before it is used. Must not know the call or its receiver.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import TypeAdapter

from workers.journal.journal import Journal

T = TypeVar("T")


async def replay_or_ask(
    journal: Journal,
    key: str,
    request: bytes,
    ask: Callable[[], Awaitable[T]],
    *,
    codec: TypeAdapter[T],
) -> T:
    """Returns the journalled answer to exactly this request, or a new one once it is durable.

    `codec` must encode to a JSON object. An exception of `ask` is not journalled, so the call is
    repeated after a resume.
    """
    digest = hashlib.sha256(request).hexdigest()
    payload = await journal.get(key, digest)
    if payload is not None:
        return codec.validate_python(payload)
    answer = await ask()
    await journal.put(key, digest, codec.dump_python(answer))
    return answer
