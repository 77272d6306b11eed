"""An engine of scripted replies on a real socket, which records its requests."""

import asyncio
import json
from typing import Any

from aiohttp import web

REPLY = {
    "choices": [
        {
            "index": 0,
            "text": "",
            "token_ids": [7, 2],
            "finish_reason": "stop",
            "logprobs": {"token_logprobs": [-0.5, -0.25]},
            "prompt_logprobs": [None, {"6": {"logprob": -1.5, "rank": 3, "decoded_token": "x"}}],
        }
    ]
}


class ScriptedEngine:
    """A server that records requests and returns scripted replies."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.status = 200
        self.body: Any = REPLY
        self.hang = False
        self.cut_off = False
        self.sound = False
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        key = request.headers.get("Authorization")
        self.requests.append((request.path, json.loads(text) if text else {}, key))
        if self.hang:
            await asyncio.sleep(60)
        if self.cut_off:
            assert request.transport is not None
            request.transport.abort()
        if self.sound and request.path == "/health":
            return web.Response()
        if isinstance(self.body, bytes):
            return web.Response(body=self.body, status=self.status)
        return web.json_response(self.body, status=self.status)
