"""ASGI middleware before vLLM's routes: only what the service calls, only with the engine's key.

vLLM 0.32 asks for its key under `/v1` and `/inference` alone: `/invocations` samples and
`/adapters` loads files for any client of the port. Here every path that is not on the list is not
found, and every one but `/health` needs the key.
"""

import hmac
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, Final

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN: Final = ("GET", "/health")
SERVED: Final = frozenset(
    {
        OPEN,
        ("GET", "/metrics"),
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/completions"),
        ("POST", "/v1/load_lora_adapter"),
        ("POST", "/v1/unload_lora_adapter"),
    }
)


class Door:
    """An empty VLLM_API_KEY leaves the served paths open: for loopback use only."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._key = os.environ.get("VLLM_API_KEY", "").encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif (scope["method"], scope["path"]) not in SERVED:
            await _refuse(send, 404, "There is no such endpoint.")
        elif (scope["method"], scope["path"]) != OPEN and not self._knows(scope):
            await _refuse(send, 401, "The engine's key is missing or wrong.")
        else:
            await self._app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        if not self._key:
            return True
        sent = next((v for n, v in scope["headers"] if n.lower() == b"authorization"), b"")
        return hmac.compare_digest(sent.removeprefix(b"Bearer "), self._key)


async def _refuse(send: Send, status: int, message: str) -> None:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": status}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})
