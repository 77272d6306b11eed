"""Records a streamed chat on its way to the client.

The last event, `[DONE]`, is held back until the whole reply is stored: a client that has read it
can retrieve the completion. A stream that breaks off has no whole reply, and nothing of it is
stored.
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
    events: AsyncIterator[bytes], *, completion_id: str, keep: Callable[[Json], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """Yields the events with the id of the stored completion, and gives `keep` the whole reply
    before the last one. If `keep` fails, the stream ends with its error, because a client must not
    mistake the answer for a stored one.
    """
    recorder = _Recorder(completion_id)
    async for chunk in events:  # one event, or all of a stream that came at once
        named = _END.join([recorder.feed(event) for event in chunk.split(_END)])
        if recorder.ended:
            try:
                await keep(recorder.reply.whole())
            except RequestError as error:
                yield error_event(error)
                return
        yield named


class _Recorder:
    def __init__(self, completion_id: str) -> None:
        self.reply = StreamedReply()
        self.ended = False
        self._completion_id = completion_id

    def feed(self, event: bytes) -> bytes:
        """Adds an event to the reply. Returns it with the id of the stored completion."""
        if event.strip() == _DONE:
            self.ended = True
        if not event.startswith(_DATA + b"{"):
            return event
        part = json.loads(event.removeprefix(_DATA))
        if "error" in part:
            return event
        part["id"] = self._completion_id
        self.reply.add(part)
        return _DATA + json.dumps(part).encode()
