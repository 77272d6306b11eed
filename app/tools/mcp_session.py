"""One session with an MCP server. The library's log is off, because it repeats texts of servers."""

import asyncio
import json
import logging
from collections.abc import Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeVar

import httpx2
import structlog
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
    Result,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from app.kit.endpoints import EndpointFault, FaultKind
from app.kit.strict_json import is_too_deep
from app.kit.telemetry import SPANS
from app.kit.texts import storable
from app.tools.mcp_results import own_result, read_contents, read_result, result_fault
from app.tools.mcp_servers import URI, listed_resource, unread_uri
from app.tools.mcp_transport import (
    CALL_ID,
    END_TIMEOUT_S,
    INVALID,
    ROLLOUT_ID,
    EndpointTransport,
    McpServer,
    headers_fault,
)
from app.tools.tool_calls import TOO_LARGE_REPLY, TOO_LARGE_REQUEST
from app.tools.tools import ToolOutcome

log = structlog.get_logger()
_T = TypeVar("_T")

_NOWHERE: Final = "http://mcp.invalid/"
_CLIENT: Final = Implementation(name="agent-rft", version="1")
_WRONG_ARGUMENTS: Final = frozenset({INVALID_PARAMS})
_NO_RESOURCE: Final = frozenset({INVALID_PARAMS, -32002})
"""The second is the code of earlier versions of the protocol."""
_END_LIMIT_S: Final = 10.0
LONGEST_END_S: Final = _END_LIMIT_S + END_TIMEOUT_S
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
logging.getLogger("httpx2").setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class McpCall:
    name: str
    arguments: str
    call_id: str
    """`call_…`: the idempotency key of the call over all its attempts."""

    def encode(self) -> bytes:
        return json.dumps([self.name, self.arguments, self.call_id]).encode()


class McpSession:
    def __init__(
        self, server: McpServer, *, trace_id: str, protocol_version: str | None = None
    ) -> None:
        """`protocol_version` is an earlier session's; `None` negotiates one."""
        self.transport = EndpointTransport(server, trace_id=trace_id)
        self._server = server
        self._trace_id = trace_id
        self._mode = _mode(protocol_version)
        self._ended = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._client: asyncio.Future[Client] | None = None

    async def client(self) -> Client:
        if self._client is None:
            self._client = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._live(self._client))
        try:
            return await asyncio.shield(self._client)
        except MCPError as error:
            raise self.fault_of(error) from None
        except Exception as error:  # noqa: BLE001 - whatever the library makes of a server's answer
            raise _unreadable(error) from None

    async def ask(self, work: Coroutine[Any, Any, _T]) -> _T:
        if self._owner is None:  # `client()` comes first
            raise RuntimeError("the session is not open")
        exchange = asyncio.ensure_future(work)
        try:
            await asyncio.wait({exchange, self._owner}, return_when=asyncio.FIRST_COMPLETED)
            if exchange.done():
                return exchange.result()
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the library raises many kinds for what servers send
            raise _unreadable(error) from None
        finally:
            exchange.cancel()
        raise EndpointFault(FaultKind.UNREACHABLE, "the session broke")

    async def call(self, call: McpCall) -> ToolOutcome:
        arguments = _sendable(call.arguments)
        if arguments is None:
            text = "Error: the arguments are not a JSON object that can be sent."
            return ToolOutcome(text, "bad_arguments", 0.0, 0)
        if call.name == self._server.reading_tool:
            return await self._read(call, arguments)
        too_long = headers_fault(self._server.schemas.get(call.name), arguments)
        if too_long is not None:
            return ToolOutcome(too_long, "too_large", 0.0, 0)
        meta: Any = {CALL_ID: call.call_id, ROLLOUT_ID: self._trace_id}
        params = CallToolRequestParams(name=call.name, arguments=arguments, _meta=meta)
        try:
            result = await self._sent(call, CallToolRequest(params=params), CallToolResult)
        except MCPError as error:
            return self._refused(call, error)
        return self._outcome(call, *read_result(result))

    async def _sent(self, call: McpCall, request: Any, kind: type[Result]) -> dict[str, Any]:
        client = await self.client()
        self.transport.callers[call.call_id] = SPANS.running
        return own_result(await self.ask(client.session.send_request(request, kind)))

    async def _read(self, call: McpCall, arguments: dict[str, Any]) -> ToolOutcome:
        resource = listed_resource(arguments.get(URI), self._server.resources)
        if resource is None:
            unread = unread_uri(arguments, self._server.resources)
            return ToolOutcome(unread, "bad_arguments", 0.0, 0)
        meta: Any = {CALL_ID: call.call_id, ROLLOUT_ID: self._trace_id}
        params = ReadResourceRequestParams(uri=arguments[URI], _meta=meta)
        try:
            result = await self._sent(call, ReadResourceRequest(params=params), ReadResourceResult)
        except MCPError as error:
            mistakes = _NO_RESOURCE if resource.template else frozenset[int]()
            return self._refused(call, error, mistakes=mistakes)
        return self._outcome(call, read_contents(result), None)

    async def close(self) -> None:
        self._ended.set()
        if self._owner is None:
            return
        try:
            await asyncio.wait({self._owner}, timeout=_END_LIMIT_S)
        finally:
            self._owner.cancel()
        await asyncio.gather(self._owner, return_exceptions=True)
        await self.transport.ended()

    async def _live(self, opened: asyncio.Future[Client]) -> None:
        try:
            async with (
                httpx2.AsyncClient(transport=self.transport, trust_env=False, timeout=None) as http,
                Client(
                    streamable_http_client(_NOWHERE, http_client=http),
                    mode=self._mode,
                    client_info=_CLIENT,
                    cache=None,
                ) as client,
            ):
                opened.set_result(client)
                await self._ended.wait()
        except BaseException as error:
            if not opened.done():
                opened.set_exception(_first(error))
                opened.exception()  # its caller may have stopped waiting
            if not isinstance(error, Exception):
                raise

    def _refused(
        self, call: McpCall, error: MCPError, *, mistakes: frozenset[int] = _WRONG_ARGUMENTS
    ) -> ToolOutcome:
        """Returns the text about a mistake of the model (`mistakes` are its codes), or raises."""
        fault = self.transport.faults.get(call.call_id)
        if fault is None and error.code in mistakes:
            return self._outcome(call, storable(f"Error: {error.message}"), INVALID)
        fault = fault or self.fault_of(error)
        if fault.kind is FaultKind.TOO_LARGE:
            text = TOO_LARGE_REPLY if fault.attempts else TOO_LARGE_REQUEST
            return ToolOutcome(text, "too_large", 0.0, fault.attempts)
        if fault.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return ToolOutcome(TOO_LARGE_REQUEST, "too_large", 0.0, fault.attempts)
        raise fault

    def _outcome(self, call: McpCall, output: str, error: str | None) -> ToolOutcome:
        answer = self.transport.answers.pop(call.call_id)
        return ToolOutcome(output, error, answer.latency_s, answer.attempts)

    def fault_of(self, error: MCPError) -> EndpointFault:
        message = f"answered with the MCP error {error.code}"
        fault = self.transport.fault or self.transport.refusal
        return fault or EndpointFault(FaultKind.ERROR, message)


def _mode(protocol_version: str | None) -> str:
    if protocol_version is None:
        return "auto"
    return protocol_version if protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy"


def _sendable(arguments: str) -> dict[str, Any] | None:
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False, allow_nan=False)
        value = json.loads(storable(text))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not is_too_deep(value) else None


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _unreadable(error: Exception) -> EndpointFault:
    if not isinstance(error, ValidationError):
        # Its words may be the server's.
        log.warning("the protocol library failed", error=type(error).__name__)
    return result_fault("answered with a result that is not of the protocol")
