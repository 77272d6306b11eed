"""Reads the usage of a streamed chat on its way to the client.

The engine is always asked for the last chunk with the usage; a client that did not ask for it does
not get it.
"""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

_DATA: Final = b"data: "
_END: Final = b"\n\n"


def with_usage(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the call of a stream with the option that makes the engine report its usage."""
    options = body.get("stream_options") or {}
    return {**body, "stream_options": {**options, "include_usage": True}}


def asks_for_usage(body: dict[str, Any]) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


async def metered_events(
    events: AsyncIterator[bytes], *, shown: bool, note: Callable[[dict[str, Any]], None]
) -> AsyncIterator[bytes]:
    """Yields the events, and gives `note` the usage once. If the stream breaks off or its client
    goes, the usage is the number of events with an answer, which is about that of its tokens.
    """
    answered, usage = 0, None
    try:
        async for chunk in events:  # one event, or all of a stream that came at once
            kept: list[bytes] = []
            for event in chunk.split(_END):
                reported = _usage(event)
                if reported is None:
                    answered += event.startswith(_DATA + b"{")
                else:
                    usage = reported
                if reported is None or shown:
                    kept.append(event)
            if left := _END.join(kept):
                yield left
    finally:
        note({"completion_tokens": answered} if usage is None else usage)


def _usage(event: bytes) -> dict[str, Any] | None:
    """Returns the usage of the last chunk; `None` for any other event."""
    if b'"usage"' not in event or not event.startswith(_DATA):
        return None
    try:
        chunk = json.loads(event.removeprefix(_DATA))
    except ValueError:
        return None
    is_last = isinstance(chunk, dict) and chunk.get("choices") == []
    usage = chunk.get("usage") if is_last else None
    return usage if isinstance(usage, dict) else None
