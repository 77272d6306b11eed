"""Requests and replies of MCP sessions over the guarded client of endpoints."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import httpx2
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from typing_extensions import override

from app.kit.egress import Egress, EgressFailure, EgressReply, EgressRequest, check_headers
from app.kit.endpoint_pool import Endpoint
from app.kit.endpoints import CallSigner, EndpointAnswer, EndpointFault, EndpointRequest, FaultKind
from app.kit.errors import EndpointRefused
from app.kit.http import is_error, is_success
from app.kit.ids import new_id
from app.kit.replies import CREDENTIALS_REFUSED, WRONG_ADDRESS
from app.kit.strict_json import MAX_DEPTH, is_too_deep, strict_loads
from app.kit.telemetry import SPANS, RunningSpan
from app.tools.mcp_results import REPORTED, for_library
from app.tools.mcp_servers import McpResource
from app.tools.tools import ToolOutcome

MAX_CHARACTERS: Final = 4_096


def argument_headers(
    schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]
) -> dict[str, str]:
    if not schema or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


def headers_fault(schema: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> str | None:
    values = argument_headers(schema, arguments).values()
    if sum(map(len, values)) <= MAX_CHARACTERS:
        return None
    return (
        f"Error: the arguments that are repeated in headers are longer than {MAX_CHARACTERS} "
        "characters."
    )


INVALID: Final = "invalid_params"
_READ_CHARACTERS: Final = 300


def denies_the_tool(name: str, outcome: ToolOutcome) -> bool:
    """Returns whether an error may mean that the tool is gone: there is no code for it."""
    if outcome.error not in {REPORTED, INVALID}:
        return False
    text = outcome.output[:_READ_CHARACTERS]
    return name in text and "tool" in text.replace(name, "").lower()


NEGOTIATION: Final = frozenset({"initialize", "server/discover"})
INTERNAL_ERROR: Final = -32603
_EVENT_STREAM: Final = "text/event-stream"
_SESSION_ID: Final = re.compile(r"[!-~]{1,1024}")
_WRONG_PATH: Final = WRONG_ADDRESS | {
    HTTPStatus.NOT_ACCEPTABLE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}


@dataclass(frozen=True, slots=True)
class ServerReply:
    status: int
    message: dict[str, Any] | None
    session_id: str | None


def read_reply(reply: EgressReply, *, request_id: Any, method: str) -> ServerReply:
    session_id = reply.headers.get("mcp-session-id")
    if not is_success(reply.status) and not is_error(reply.status):
        raise _bad(f"answered {reply.status}; redirects are not followed")
    if session_id is not None and _SESSION_ID.fullmatch(session_id) is None:
        raise _bad("answered with a session id that is not 1 to 1024 visible characters")
    if request_id is None:
        return ServerReply(reply.status, None, session_id)
    message = next(
        (each for each in _messages(reply) if _answers(each, request_id, reply.status)), None
    )
    if message is None and is_success(reply.status):
        raise _bad(f"answered {reply.status} without a JSON-RPC response")
    if is_too_deep(message):
        raise _bad(f"answered with JSON of more than {MAX_DEPTH} levels")
    if method == "initialize" and _unknown_version(message):
        known = ", ".join(HANDSHAKE_PROTOCOL_VERSIONS)
        raise _bad(f"answered with a protocol version that is none of {known}")
    if method not in NEGOTIATION and _code(message) == INTERNAL_ERROR:
        raise EndpointFault(FaultKind.ERROR, f"answered with the MCP error {INTERNAL_ERROR}")
    return ServerReply(reply.status, message, session_id)


def _bad(message: str) -> EndpointFault:
    return EndpointFault(FaultKind.BAD_REPLY, message)


def refusal(status: int, *, in_session: bool) -> EndpointFault:
    if in_session and status == HTTPStatus.NOT_FOUND:
        reason = ": its session is over"
    elif status in CREDENTIALS_REFUSED:
        reason = ": check 'authorization' and 'headers'"
    elif status in _WRONG_PATH:
        reason = ": check the path of 'server_url', where no MCP server answers"
    else:
        reason = ""
    fault = EndpointFault(FaultKind.ERROR, f"answered {status}{reason}", status=status)
    fault.attempts = 1
    return fault


def _unknown_version(message: dict[str, Any] | None) -> bool:
    result = None if message is None else message.get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return isinstance(version, str) and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _messages(reply: EgressReply) -> Iterator[dict[str, Any]]:
    try:
        text = reply.body.decode()
    except UnicodeDecodeError:
        return
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    for part in _events(text) if kind == _EVENT_STREAM else (text,):
        try:
            message = strict_loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            yield message


def _events(text: str) -> Iterator[str]:
    data: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))


def _answers(message: dict[str, Any], request_id: Any, status: int) -> bool:
    """Returns whether a message is the response; one that refuses early has the id null."""
    if not isinstance(message.get("result"), dict) and not isinstance(message.get("error"), dict):
        return False
    own = message.get("id")
    return own == request_id or (own is None and is_error(status) and "error" in message)


def _code(message: dict[str, Any] | None) -> Any:
    error = None if message is None else message.get("error")
    return error.get("code") if isinstance(error, dict) else None


CALL_ID: Final = "agent-rft/call-id"
ROLLOUT_ID: Final = "agent-rft/rollout-id"
_FAILED: Final = -32000
"""JSON-RPC code of a request that got no usable reply; the caller reads the fault instead."""
_CALLS: Final = frozenset({"tools/call", "resources/read"})
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


@dataclass(frozen=True, slots=True)
class McpServer:
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    endpoint: Endpoint
    egress: Egress
    signer: CallSigner
    schemas: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Input schemas of the tools, by name: some arguments are repeated in headers."""
    resources: Sequence[McpResource] = ()
    reading_tool: str | None = None


class EndpointTransport(httpx2.AsyncBaseTransport):
    def __init__(self, server: McpServer, *, trace_id: str) -> None:
        self._server = server
        self._trace_id = trace_id
        self._ending: asyncio.Task[int] | None = None
        self.has_session = False
        self.fault: EndpointFault | None = None
        self.refusal: EndpointFault | None = None
        """The last answer to such a request, if it was only a status, which the library drops."""
        self.answers: dict[str, EndpointAnswer[ServerReply]] = {}
        self.faults: dict[str, EndpointFault] = {}
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
        return self._response(answer.value, request_id, called, method=method)

    def _response(
        self, reply: ServerReply, request_id: Any, called: str | None, *, method: str
    ) -> httpx2.Response:
        headers = {"content-type": "application/json"}
        if reply.session_id is not None:
            self.has_session = True
            headers["mcp-session-id"] = reply.session_id
        if reply.message is not None:
            if called is None:
                self.refusal = None
            content = json.dumps(_for_library(reply.message, method, request_id)).encode()
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
        """Ends the session in a task of its own: a cancelled rollout cancels requests."""
        self._ending = asyncio.create_task(self._delete(self._headers(request)))
        return httpx2.Response(await asyncio.shield(self._ending))

    async def ended(self) -> None:
        """Waits until a server with a session has confirmed its end, or is too late."""
        if self._ending is not None:
            await asyncio.wait({self._ending})

    async def _delete(self, headers: dict[str, str]) -> int:
        try:
            check_headers(headers)
            reply = await self._server.egress.send(
                EgressRequest(
                    self._server.url,
                    {**headers, "X-Rollout-Id": self._trace_id},
                    body=b"",
                    timeout_s=END_TIMEOUT_S,
                    method="DELETE",
                    reads_body=False,
                )
            )
        except (EgressFailure, EndpointRefused):
            return _NOT_OFFERED
        return reply.status


def _for_library(message: dict[str, Any], method: str, request_id: Any) -> dict[str, Any]:
    answered = {"jsonrpc": "2.0", "id": request_id}
    result, error = message.get("result"), message.get("error")
    if isinstance(result, dict):
        return {**answered, "result": for_library(method, result)}
    sent = error if isinstance(error, dict) else {}
    code, words = sent.get("code"), sent.get("message")
    known = {
        "code": code if isinstance(code, int) else _FAILED,
        "message": words if isinstance(words, str) else "",
    }
    return {**answered, "error": {**sent, **known}}


def _error(request_id: Any, fault: EndpointFault) -> httpx2.Response:
    if request_id is None:
        return httpx2.Response(200)
    error = {"code": _FAILED, "message": fault.message}
    message = {"jsonrpc": "2.0", "id": request_id, "error": error}
    headers = {"content-type": "application/json"}
    return httpx2.Response(200, headers=headers, content=json.dumps(message).encode())
