"""Replies with a stream whose source ends with its client."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from typing_extensions import override


class ClosingResponse(StreamingResponse):
    """A stream whose source is closed at once when its client hangs up."""

    def __init__(self, content: AsyncGenerator[bytes, None], **options: Any) -> None:
        super().__init__(content, **options)
        self._source = content

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._source):
            await super().__call__(scope, receive, send)
