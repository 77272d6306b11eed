"""A proxy in front of a service that answers in its place, or hangs up, as often as a test says.

Faults wait in a queue, each for one request:

- a status (`"429"`, `"500"`) is answered with an error envelope and `retry_after`; `"429 1.5"`
  says another `retry-after`, `"429 -"` none;
- `"unread"` ends the connection before the body is read, `"reset"` after it, without an answer;
- `"lost"` passes the request on and then ends the connection, `"cut"` in the middle of the answer;
- `"slow 1.5"` passes the request on after that many seconds;
- `""` passes it on.

`POST /_faults` sets the queue from a JSON list, `GET /_seen` lists what came since, so that clients
in any language can be tested.
"""

import asyncio
import socket
import threading
import time
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
    """Address without a path."""
    url: str = ""
    faults: list[str] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)
    retry_after: str = "0"

    def inject(self, *faults: str) -> None:
        """Let these happen to the next requests, and forget what was seen."""
        self.faults[:] = faults
        self.seen.clear()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/_faults":
            self.inject(*await request.json())
            return web.json_response(self.faults)
        if request.path == "/_seen":
            return web.json_response(self.seen)
        return await self._met(request)

    async def _met(self, request: web.Request) -> web.StreamResponse:
        self._saw(request)
        fault, _, detail = (self.faults.pop(0) if self.faults else "").partition(" ")
        body = b"" if fault == "unread" else await request.read()
        if fault.isdigit():
            return self._refusal(int(fault), detail or self.retry_after)
        if fault in {"unread", "reset"}:
            return _hang_up(request)
        if fault == "slow":
            await asyncio.sleep(float(detail))
        answer = await self._passed_on(request, body)
        if fault == "cut":
            return await _cut(request, answer)
        return _hang_up(request) if fault == "lost" else answer

    def _saw(self, request: web.Request) -> None:
        self.seen.append(
            {
                "method": request.method,
                "path": request.path_qs,
                "headers": {name.lower(): value for name, value in request.headers.items()},
                "at": time.monotonic(),
            }
        )

    def _refusal(self, status: int, retry_after: str) -> web.Response:
        error = {"message": "injected", "type": "server_error", "param": None, "code": None}
        headers = {"x-request-id": "req_injected"}
        if retry_after != "-":
            headers["retry-after"] = retry_after
        return web.json_response({"error": error}, status=status, headers=headers)

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


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _cut(request: web.Request, answer: web.Response) -> web.StreamResponse:
    """Sends the headers, half of the body, and then nothing."""
    body = answer.body
    assert isinstance(body, bytes)
    reply = web.StreamResponse(status=answer.status, headers=answer.headers)
    reply.content_length = len(body)
    await reply.prepare(request)
    await reply.write(body[: len(body) // 2])
    # The client has read so far before the connection ends.
    await asyncio.sleep(0.05)
    _hang_up(request)
    return reply


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
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        ready.set()
        await stopped.wait()
        await runner.cleanup()
        slow = asyncio.all_tasks() - {asyncio.current_task()}
        for task in slow:
            task.cancel()  # `cleanup` leaves a request that waits for a long fault
        await asyncio.gather(*slow, return_exceptions=True)

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
