"""Records a streamed chat on its way to the client.

The last event, `[DONE]`, is held back until the whole reply is stored: a client that has read it
can retrieve the completion. A stream that breaks off has no whole reply, and nothing of it is stored.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from app.domain.chat.streamed_replies import StreamedReply
from app.domain.documents.json_object import Json
from app.domain.errors import RequestError

_DATA: Final = b"data: "
_END: Final = b"\n\n"
_DONE: Final = b"data: [DONE]"


def error_event(error: RequestError) -> bytes:
    """Returns the event of a stream that ends with a fault."""
    body = {
        "message": error.message,
        "type": error.type,
        "param": error.param,
        "code": error.code,
    }
    return _DATA + json.dumps({"error": body}).encode() + _END


async def recorded_events(
    events: AsyncIterator[bytes], *, keep: Callable[[Json], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """Yields the events, and gives `keep` the whole reply before the last one. If `keep` fails, the
    stream ends with its error, because a client must not mistake the answer for a stored one.
    """
    reply = StreamedReply()
    async for chunk in events:
        if not _added(reply, chunk):
            yield chunk
            continue
        try:
            await keep(reply.whole())
        except RequestError as error:
            yield error_event(error)
            return
        yield chunk


def _added(reply: StreamedReply, chunk: bytes) -> bool:
    """Adds one or several events to the reply. Returns whether the end is among them."""
    ended = False
    for event in chunk.split(_END):
        if event.strip() == _DONE:
            ended = True
        elif event.startswith(_DATA + b"{"):
            part = json.loads(event.removeprefix(_DATA))
            if "error" not in part:
                reply.add(part)
    return ended
