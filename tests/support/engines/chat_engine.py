"""An engine's chat and adapter endpoints on a real socket, which fail in the ways a test names."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.grading.judges import CODED, coded_key
from tests.support.web.web_server import running_app


@dataclass(slots=True)
class ChatEngine:
    """Attributes may be changed while it serves."""

    models: set[str]
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[tuple[int, str]] = field(default_factory=list)
    """Statuses and messages that the next chat calls are answered with, before any other answer."""
    hang: bool = False
    break_off: bool = False
    answer: str = "hello"
    """In it, `KEY` becomes the key that a judge is asked for."""
    stream: list[dict[str, Any]] = field(default_factory=list)
    """Chunks to stream instead of the answer, as another engine sent them."""
    answers_tools: bool = False
    """True streams the answer, and no chunks, to a chat whose last message is a tool's."""
    load_takes_s: float = 0.0
    forgets: int = 0
    """Loads that are answered well and serve nothing, as by an engine that restarts after them."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set once a client hung up on a call in work."""
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        if self.refusals:
            return _error(*self.refusals.pop(0))
        model = body["model"]
        if model not in self.models:
            return _error(404, f"The model `{model}` does not exist.")
        try:
            if body["stream"]:
                return await self._stream(request, body)
            if self.hang:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        said = self.answer.replace(CODED, coded_key(body["messages"]))
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
        return web.json_response(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": model,
                "choices": [choice],
                "usage": usage,
            }
        )

    async def _stream(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        model = body["model"]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        is_answered = self.answers_tools and body["messages"][-1]["role"] == "tool"
        chunks = [] if is_answered else self.stream
        for chunk in chunks:
            # In vLLM's own form of JSON: without spaces, with letters of all scripts as they are.
            text = json.dumps({**chunk, "model": model}, separators=(",", ":"), ensure_ascii=False)
            await response.write(f"data: {text}\n\n".encode())
        if chunks:
            await response.write(b"data: [DONE]\n\n")
            return response
        half = (len(self.answer) + 1) // 2
        deltas: list[tuple[dict[str, Any], str | None]] = [
            ({"content": self.answer[:half]}, None),
            ({"content": self.answer[half:]}, "stop"),
        ]
        for delta, finish_reason in deltas:
            chunk = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
            }
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            if self.hang:
                await asyncio.Event().wait()
            if self.break_off:
                assert request.transport is not None
                request.transport.abort()
        if (body.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
            last = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
            last |= {"model": model, "choices": [], "usage": usage}
            await response.write(b"data: " + json.dumps(last).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    async def load(self, request: web.Request) -> web.StreamResponse:
        name = (await request.json())["lora_name"]
        async with self._loading:  # as vLLM: one after the other, and the second is refused
            if name in self.models:
                return _error(400, f"The lora adapter '{name}' has already been loaded.")
            await asyncio.sleep(self.load_takes_s)
            if self.forgets:
                self.forgets -= 1
            else:
                self.models.add(name)
        return web.Response(text="Success")


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "param": None}}, status=status)


@contextmanager
def chat_engine(*models: str) -> Iterator[ChatEngine]:
    engine = ChatEngine(set(models))
    app = web.Application()
    app.router.add_post("/v1/chat/completions", engine.chat)
    app.router.add_post("/v1/load_lora_adapter", engine.load)
    with running_app(lambda: app) as engine.url:
        yield engine
