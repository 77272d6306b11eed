"""The transport under the protocol library: each of its requests goes through a guarded endpoint.

Owns the HTTP side of an MCP server: address guard, retries, pace, size limit and signature are
those of tools (`app.gateways.endpoints`, `app.gateways.egress`). Promises: a failed request becomes
an error response, never an exception, because an exception would end the library's session; the
fault itself is stored for the caller. The library's own address is never dialled.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import httpx2
from typing_extensions import override

from app.domain.errors import EndpointRefused
from app.domain.ids import new_id
from app.domain.tools.mcp_servers import McpResource
from app.gateways.egress.egress import Egress, EgressFailure
from app.gateways.egress.headers import check_headers
from app.gateways.endpoints.calls import EndpointAnswer, EndpointFault, EndpointRequest
from app.gateways.endpoints.pool import Endpoint
from app.gateways.endpoints.signing import CallSigner
from app.gateways.mcp.argument_headers import argument_headers
from app.gateways.mcp.replies import (
    NEGOTIATION,
    ServerReply,
    encode_message,
    read_reply,
    refusal,
)
from app.telemetry.spans import SPANS, RunningSpan

CALL_ID: Final = "agent-rft/call-id"
ROLLOUT_ID: Final = "agent-rft/rollout-id"
_FAILED: Final = -32000
"""JSON-RPC code of a request that got no usable reply; the caller reads the fault instead."""
_CALLS: Final = frozenset({"tools/call", "resources/read"})
"""Requests of the model."""
_NOT_OFFERED: Final = HTTPStatus.METHOD_NOT_ALLOWED
END_TIMEOUT_S: Final = 5.0
_CONNECTION_HEADERS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    }
)
"""Headers of the library's requests that the egress client sets itself."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server as it is called."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    """The customer's own headers."""
    endpoint: Endpoint
    egress: Egress
    signer: CallSigner
    schemas: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Input schemas of the tools, by name: some arguments are repeated in headers."""
    resources: Sequence[McpResource] = ()
    """The resources that were listed."""
    reading_tool: str | None = None
    """Name of the tool that stands for reading them."""


class EndpointTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of one session, which belongs to one rollout or one listing."""

    def __init__(self, server: McpServer, *, trace_id: str) -> None:
        self._server = server
        self._trace_id = trace_id
        self._ending: asyncio.Task[int] | None = None
        self.has_session = False
        """True if the server has a session."""
        self.fault: EndpointFault | None = None
        """The last fault of a request that was no tool call."""
        self.refusal: EndpointFault | None = None
        """The last answer to such a request, if it was only a status, which the library drops."""
        self.answers: dict[str, EndpointAnswer[ServerReply]] = {}
        """Answers by id of the tool call."""
        self.faults: dict[str, EndpointFault] = {}
        """By id of the tool call."""
        self.callers: dict[str, RunningSpan | None] = {}
        """By id of the tool call: the library sends it from a task of its own."""

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        match request.method:
            case "POST":
                return await self._post(request)
            case "DELETE":
                return await self._end(request)
            case _:  # a stream of unsolicited messages
                return httpx2.Response(_NOT_OFFERED)

    async def _post(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        message = json.loads(body)
        method = message.get("method", "")
        request_id = message.get("id") if method else None
        params = message.get("params") or {}
        called = (params.get("_meta") or {}).get(CALL_ID) if method in _CALLS else None
        if called is None and self.fault is not None and method in NEGOTIATION:
            return _error(request_id, self.fault)
        headers = self._headers(request)
        if called is not None:
            schema = self._server.schemas.get(params.get("name", ""))
            headers |= argument_headers(schema, params.get("arguments") or {})
        endpoint_request = EndpointRequest(
            headers=headers, body=body, call_id=called or new_id("call_"), trace_id=self._trace_id
        )
        read = partial(read_reply, request_id=request_id, method=method)
        caller = SPANS.running if called is None else self.callers.pop(called, None)
        try:
            with SPANS.resumed(caller):
                answer = await self._server.endpoint.call(
                    endpoint_request, read, signer=self._server.signer
                )
        except EndpointFault as fault:
            return self._failed(request_id, fault, called)
        if called is not None:
            self.answers[called] = answer
        return self._response(answer.value, request_id, called)

    def _response(self, reply: ServerReply, request_id: Any, called: str | None) -> httpx2.Response:
        headers = {"content-type": "application/json"}
        if reply.session_id is not None:
            self.has_session = True
            headers["mcp-session-id"] = reply.session_id
        if reply.message is not None:
            if called is None:
                self.refusal = None
            content = encode_message({**reply.message, "jsonrpc": "2.0", "id": request_id})
            return httpx2.Response(reply.status, headers=headers, content=content)
        if request_id is not None:
            # A refusal without words of the protocol: the library would lose the status.
            fault = refusal(reply.status, in_session=self.has_session)
            if called is not None:
                return self._failed(request_id, fault, called)
            self.refusal = fault  # an older server may take the next question
        return httpx2.Response(reply.status, headers=headers)

    def _failed(self, request_id: Any, fault: EndpointFault, called: str | None) -> httpx2.Response:
        if called is not None:
            self.faults[called] = fault
        elif request_id is not None:
            self.fault = fault
        return _error(request_id, fault)

    def _headers(self, request: httpx2.Request) -> dict[str, str]:
        own = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _CONNECTION_HEADERS
        }
        return {**self._server.headers, **own}

    async def _end(self, request: httpx2.Request) -> httpx2.Response:
        """Ends the session at the server, in a separate task: if a rollout is cancelled in a call,
        the library cancels its own request, and the server would keep the session.
        """
        self._ending = asyncio.create_task(self._delete(self._headers(request)))
        return httpx2.Response(await asyncio.shield(self._ending))

    async def ended(self) -> None:
        """Waits until a server with a session has confirmed its end, or has not answered in
        time.
        """
        if self._ending is not None:
            await asyncio.wait({self._ending})

    async def _delete(self, headers: dict[str, str]) -> int:
        """Sends the DELETE and returns the status, which has no effect on the rollout."""
        try:
            check_headers(headers)
            reply = await self._server.egress.delete(
                self._server.url,
                headers={**headers, "X-Rollout-Id": self._trace_id},
                timeout_s=END_TIMEOUT_S,
            )
        except (EgressFailure, EndpointRefused):
            return _NOT_OFFERED
        return reply.status


def _error(request_id: Any, fault: EndpointFault) -> httpx2.Response:
    if request_id is None:
        return httpx2.Response(200)
    error = {"code": _FAILED, "message": fault.message}
    message = {"jsonrpc": "2.0", "id": request_id, "error": error}
    headers = {"content-type": "application/json"}
    return httpx2.Response(200, headers=headers, content=encode_message(message))
