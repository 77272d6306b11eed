"""Asks the world outside at most once: a journalled answer is replayed, a fresh one is journalled.

Owns the order "make it durable, then use it". Must not know what is asked, nor of whom.
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
    """Returns the journalled answer to exactly this request, or a fresh one once it is durable.

    `codec` must encode to a JSON object. An exception of `ask` is not journalled: after a resume
    the question is worth asking again.
    """
    digest = hashlib.sha256(request).hexdigest()
    payload = await journal.get(key, digest)
    if payload is not None:
        return codec.validate_python(payload)
    answer = await ask()
    await journal.put(key, digest, codec.dump_python(answer))
    return answer
