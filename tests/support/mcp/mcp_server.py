"""A real MCP server on a real socket, made with the protocol's own library.

It keeps a record of the HTTP requests that it got. Its tools answer from `records`; others fail,
are slow or return what is not text.
"""

import asyncio
import base64
import contextlib
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from pydantic import Field

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
PICTURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class McpRequest:
    """One HTTP request."""

    verb: str
    headers: dict[str, str]
    """Names in lower case."""
    message: dict[str, Any]
    """The JSON-RPC message; empty without a body."""

    @property
    def called(self) -> str:
        """The method of the message."""
        return str(self.message.get("method", ""))


@dataclass
class McpServerUnderTest:
    """The server's address, its record, and its faults to come."""

    port: int = 0
    heard: list[McpRequest] = field(default_factory=list)
    records: dict[str, str] = field(default_factory=lambda: {"gold": "blue"})
    handshake_only: bool = False
    """True: it answers as servers do that know no version without sessions."""
    streams: bool = False
    """True: it answers with event streams."""
    stopping: threading.Event = field(default_factory=threading.Event)
    gone: set[str] = field(default_factory=set)
    """Names of tools that it takes away before its next answer."""
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next answers to tool calls and readings, before the real ones."""
    resources: dict[str, str | bytes] = field(default_factory=dict)
    """Contents of the resources by their address."""
    templates: dict[str, dict[str, str]] = field(default_factory=dict)
    """Contents by the value of the one expression, `{name}`, of each template of addresses."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.port}"

    def calls(self, name: str | None = None) -> list[McpRequest]:
        """Returns the requests that called a tool."""
        called = [each for each in self.heard if each.called == "tools/call"]
        return [each for each in called if name in (None, each.message["params"]["name"])]

    def read(self) -> list[McpRequest]:
        """Returns the requests that read a resource."""
        return [each for each in self.heard if each.called == "resources/read"]

    def made(self) -> MCPServer[Any]:
        server: MCPServer[Any] = MCPServer("records")
        read_only = ToolAnnotations(read_only_hint=True)

        @server.tool(annotations=read_only)
        def lookup(q: str) -> CallToolResult:
            """Returns the record of a name."""
            found = self.records.get(q)
            text = f"no record of {q}" if found is None else found
            return CallToolResult(content=[TextContent(text=text)], is_error=found is None)

        @server.tool()
        def count(q: str) -> dict[str, int]:
            """Counts the letters of a text."""
            return {"letters": len(q)}

        @server.tool()
        def structured(q: str) -> CallToolResult:
            """Counts the letters of a text, without words."""
            return CallToolResult(content=[], structured_content={"letters": len(q)})

        @server.tool()
        def picture() -> CallToolResult:
            """Returns a picture beside a text."""
            data = base64.b64encode(PICTURE).decode()
            return CallToolResult(
                content=[
                    TextContent(text="A map:"),
                    ImageContent(data=data, mime_type="image/png"),
                    ResourceLink(name="atlas", uri="file:///atlas"),
                    EmbeddedResource(
                        resource=BlobResourceContents(uri="file:///b", blob=data, mime_type="a/b")
                    ),
                ]
            )

        @server.tool()
        async def stuck() -> str:
            """Waits until the server stops."""
            await asyncio.to_thread(self.stopping.wait)
            return "done"

        @server.tool()
        def large(characters: int) -> str:
            """Returns a long text."""
            return "x" * characters

        @server.tool()
        def regional(
            region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
        ) -> str:
            """Answers a request whose header repeats the argument."""
            return region

        @server.tool()
        def broken(q: str) -> str:
            """Fails."""
            raise ValueError(f"cannot read {q}")

        self._add_resources(server)
        return server

    def _add_resources(self, server: MCPServer[Any]) -> None:
        for uri, content in self.resources.items():
            kind = "text/plain" if isinstance(content, str) else "image/png"
            about = f"About {uri}"
            server.resource(uri, name=uri.rsplit("/", 1)[1], description=about, mime_type=kind)(
                self._reader(uri)
            )
        for template, contents in self.templates.items():
            server.resource(template, name="by name", description=f"About {template}")(
                self._reader_of_template(contents)
            )

    def _reader_of_template(self, contents: dict[str, str]) -> Callable[[str], str]:
        def read(name: str) -> str:
            if name not in contents:
                raise ResourceNotFoundError(f"there is no record of {name}")
            return contents[name]

        return read

    def _reader(self, uri: str) -> Callable[[], str | bytes]:
        def read() -> str | bytes:
            return self.resources[uri]

        return read

    def application(self) -> Any:
        made = self.made()
        inner = made.streamable_http_app(json_response=not self.streams)

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await inner(scope, receive, send)
                return
            body = b""
            while True:
                part = await receive()
                body += part.get("body", b"")
                if not part.get("more_body"):
                    break
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            message = json.loads(body) if body else {}
            heard = McpRequest(scope["method"], headers, message)
            self.heard.append(heard)
            while self.gone:
                made.remove_tool(self.gone.pop())
            if self.handshake_only and heard.called == "server/discover":
                await _answer(send, 400)
            elif heard.called in ("tools/call", "resources/read") and self.statuses:
                await _answer(send, self.statuses.pop(0))
            else:
                await inner(scope, _once(body, receive), send)

        return application


def _once(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@contextlib.contextmanager
def mcp_server(port: int = 0, **options: Any) -> Iterator[McpServerUnderTest]:
    """Runs a server on a thread of its own while the block runs."""
    server = McpServerUnderTest(**options)
    config = uvicorn.Config(
        server.application(),
        host="127.0.0.1",
        port=port,
        log_level="critical",
        lifespan="on",
        loop="asyncio",
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.005)
    server.port = running.servers[0].sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        server.stopping.set()
        running.should_exit = True
        thread.join()
