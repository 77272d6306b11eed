"""Allows listed paths only and checks the key, which vLLM does for `/v1` and `/inference` alone."""

import hmac
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, Final

AsgiScope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[AsgiScope, Receive, Send], Awaitable[None]]

UNAUTHENTICATED: Final = ("GET", "/health")
SERVED: Final = frozenset(
    {
        UNAUTHENTICATED,
        ("GET", "/metrics"),
        ("GET", "/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/completions"),
        ("POST", "/v1/load_lora_adapter"),
        ("POST", "/v1/unload_lora_adapter"),
    }
)


class AccessControl:
    """The middleware. An empty VLLM_API_KEY disables the key check: for loopback use only."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._key = os.environ.get("VLLM_API_KEY", "").encode()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif (scope["method"], scope["path"]) not in SERVED:
            await _refuse(send, 404, "There is no such endpoint.")
        elif (scope["method"], scope["path"]) != UNAUTHENTICATED and not self._is_authorized(scope):
            await _refuse(send, 401, "The engine's key is missing or wrong.")
        else:
            await self._app(scope, receive, send)

    def _is_authorized(self, scope: AsgiScope) -> bool:
        if not self._key:
            return True
        header = next((v for n, v in scope["headers"] if n.lower() == b"authorization"), b"")
        return hmac.compare_digest(header.removeprefix(b"Bearer "), self._key)


async def _refuse(send: Send, status: int, message: str) -> None:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": status}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})
