"""Replies with a chat completion, or with the stream of its chunks."""

from collections.abc import AsyncIterator
from typing import Any, Protocol

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from app.http.requests import unless_client_hangs_up


class Completions(Protocol):
    async def chat(self, body: dict[str, Any]) -> dict[str, Any]: ...

    async def chat_stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]: ...


async def completion_reply(
    request: Request, completions: Completions, sent: dict[str, Any]
) -> Response:
    """Samples a model with the body that was sent. A client that hangs up ends the sampling."""
    if sent.get("stream"):
        chunks = await unless_client_hangs_up(request, completions.chat_stream(sent))
        return StreamingResponse(chunks, media_type="text/event-stream")
    return JSONResponse(await unless_client_hangs_up(request, completions.chat(sent)))
