"""A proxy before an engine that can have it serve other weights than it was told to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from tests.support.web.web_server import running_app

_PER_HOP = {"Connection", "Content-Length", "Date", "Host", "Server", "Transfer-Encoding"}


@dataclass(slots=True)
class EngineProxy:
    """`stale` may be changed while it serves: from then on each adapter that is loaded is, under
    its new name, the first one that was loaded since.
    """

    engine_url: str
    url: str = ""
    stale: bool = False
    stale_path: str | None = None
    loaded: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the calls that load adapters, as the caller sent them."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        if request.path == "/v1/load_lora_adapter":
            body = json.loads(content)
            self.loaded.append(body)
            if self.stale:
                self.stale_path = self.stale_path or body["lora_path"]
                content = json.dumps({**body, "lora_path": self.stale_path}).encode()
        headers = {name: v for name, v in request.headers.items() if name not in _PER_HOP}
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, self.engine_url + request.path, data=content, headers=headers
            ) as reply,
        ):
            kept = {name: v for name, v in reply.headers.items() if name not in _PER_HOP}
            response = web.StreamResponse(status=reply.status, headers=kept)
            await response.prepare(request)
            async for chunk in reply.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response


@contextmanager
def engine_proxy(engine_url: str) -> Iterator[EngineProxy]:
    proxy = EngineProxy(engine_url)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/{path:.*}", proxy.handle)
    with running_app(lambda: app) as proxy.url:
        yield proxy
