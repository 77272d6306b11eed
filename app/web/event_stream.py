"""Replies with a job's live stream as server-sent events, for the API and the pages alike.

Owns the form of the reply and its end. Must not know the content of events.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final, assert_never

from fastapi import Request
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from app.domain.jobs.jobs import Job
from app.domain.jobs.streams import END_STREAM, IdleHeartbeat, StreamedEvent, StreamItem

_RETRY_MS: Final = 2000
_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}


def event_stream(
    request: Request,
    items: AsyncIterator[StreamItem],
    *,
    end: Callable[[], None],
    of_event: Callable[[StreamedEvent], bytes],
    of_job: Callable[[Job], bytes],
    headers: Mapping[str, str] | None = None,
) -> StreamingResponse:
    """Returns the open reply. `end` stops the stream once the server stops; `of_event` and `of_job`
    write a message.
    """
    request.scope["state"][END_STREAM] = end
    return StreamingResponse(
        _sent(items, of_event, of_job),
        media_type="text/event-stream",
        headers={**(headers or {}), **_HEADERS},
    )


async def _sent(
    items: AsyncIterator[StreamItem],
    of_event: Callable[[StreamedEvent], bytes],
    of_job: Callable[[Job], bytes],
) -> AsyncIterator[bytes]:
    yield format_sse_event(retry=_RETRY_MS)
    async for item in items:
        match item:
            case StreamedEvent():
                yield of_event(item)
            case Job():
                yield of_job(item)
            case IdleHeartbeat():
                yield KEEPALIVE_COMMENT
            case _:
                assert_never(item)
