"""A proxy in front of a service that answers in its place, or hangs up, as often as it was told.

Faults wait in a queue: a status (`"429"`, `"500"`) is answered with an error envelope, `"reset"`
ends the connection without an answer, `"lost"` passes the request on and then ends the connection.
`POST /_faults` sets the queue from a JSON list, `GET /_seen` lists what came since, so that clients
in any language can be tested.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server"}


@dataclass(slots=True)
class FaultProxy:
    upstream: str
    """Without a path."""
    url: str = ""
    faults: list[str] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)
    retry_after: str = "0"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.path == "/_faults":
            self.faults[:] = await request.json()
            self.seen.clear()
            return web.json_response(self.faults)
        if request.path == "/_seen":
            return web.json_response(self.seen)
        self.seen.append(
            {
                "method": request.method,
                "path": request.path_qs,
                "headers": {name.lower(): value for name, value in request.headers.items()},
            }
        )
        fault = self.faults.pop(0) if self.faults else ""
        if fault.isdigit():
            error = {"message": "injected", "type": "server_error", "param": None, "code": None}
            headers = {"x-request-id": "req_injected", "retry-after": self.retry_after}
            return web.json_response({"error": error}, status=int(fault), headers=headers)
        answer = None if fault == "reset" else await self._passed_on(request, body)
        if answer is None or fault == "lost":
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        return answer

    async def _passed_on(self, request: web.Request, body: bytes) -> web.Response:
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in _HOP
        }
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method,
                f"{self.upstream}{request.raw_path}",
                data=body,
                headers=headers,
                allow_redirects=False,
            ) as reply,
        ):
            kept = {
                name: value for name, value in reply.headers.items() if name.lower() not in _HOP
            }
            return web.Response(status=reply.status, body=await reply.read(), headers=kept)


@contextmanager
def fault_proxy(upstream: str) -> Iterator[FaultProxy]:
    proxy = FaultProxy(upstream)
    listener = socket.create_server(("127.0.0.1", 0))
    proxy.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    loop = asyncio.new_event_loop()
    stopped = asyncio.Event()
    ready = threading.Event()

    async def run() -> None:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", proxy.serve)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        ready.set()
        await stopped.wait()
        await runner.cleanup()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(run())
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
