"""A customer's endpoint over real sockets that does what its script says, however rude.

Speaks just enough HTTP/1.1 to be called: whole requests in, scripted bytes out.
"""

import asyncio
import json
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """Seconds, monotonic."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int = 200
    json: Any = None
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0

    def encode(self) -> bytes:
        body = json.dumps(self.json).encode() if self.body is None else self.body
        lines = [f"HTTP/1.1 {self.status} Scripted", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


Stream = AsyncIterator[bytes]
Script = Callable[[ReceivedRequest], Reply | Stream | Awaitable[Reply]]
"""A reply, or raw bytes after which the connection is closed."""


@dataclass(slots=True)
class EndpointServer:
    script: Script
    port: int = 0
    received: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0
    sent_bytes: int = 0

    def url(self, path: str = "/tool", *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        lower = {name.lower(): value for name, value in headers.items()}
        body = await reader.readexactly(int(lower.get("content-length", "0")))
        request = ReceivedRequest(head[0].split(" ")[1], lower, body, time.monotonic())
        self.received.append(request)
        scripted = self.script(request)
        if isinstance(scripted, AsyncIterator):
            async for chunk in scripted:
                writer.write(chunk)
                await writer.drain()
                self.sent_bytes += len(chunk)
            return False
        reply = scripted if isinstance(scripted, Reply) else await scripted
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        answer = reply.encode()
        if head[0].startswith("HEAD "):
            answer = answer[: answer.index(b"\r\n\r\n") + 4]
        writer.write(answer)
        await writer.drain()
        return True


@asynccontextmanager
async def endpoint(
    script: Script, *, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[EndpointServer]:
    """Serves `script` on a port of the loopback interface, by default a free one."""
    server = EndpointServer(script)
    handlers: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(server.serve(reader, writer))
        handlers.add(task)
        task.add_done_callback(handlers.discard)

    listener = await asyncio.start_server(handle, "127.0.0.1", port, backlog=1024, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in handlers:
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


@contextmanager
def endpoint_in_thread(script: Script, *, port: int = 0) -> Iterator[EndpointServer]:
    """Serves `script` on a loop of its own, so that its work is not counted as the caller's."""
    started, done = Future[EndpointServer](), threading.Event()

    async def serve() -> None:
        try:
            async with endpoint(script, port=port) as server:
                started.set_result(server)
                await asyncio.to_thread(done.wait)
        except OSError as error:
            started.set_exception(error)  # the port is taken

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield started.result()
    finally:
        done.set()
        thread.join()
