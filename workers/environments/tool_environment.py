"""The environment of a rollout that consists of a set of tools."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter

from app.files.datasets import DatasetRow
from app.kit.endpoint_pool import Endpoint, EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault, FaultKind
from app.kit.errors import together
from app.kit.ids import SampleKey
from app.kit.telemetry import SPANS
from app.kit.texts import storable
from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.trajectory import Failure, FailureClass
from app.tools.mcp_discovery import called_server, still_lists
from app.tools.mcp_servers import McpServerSpec
from app.tools.mcp_session import McpCall, McpSession
from app.tools.mcp_transport import denies_the_tool
from app.tools.tool_calls import ToolCall, call_tool
from app.tools.tools import ToolOutcome, ToolSpec, declared_rate
from workers.journal import Journal, replay_or_ask
from workers.rollout.environment import (
    AssistantTurn,
    CallPosition,
    Observation,
    RolloutTools,
    StepResult,
    ToolFailure,
    ToolReply,
)


class ToolEnvironment:
    def __init__(self, tools: RolloutTools) -> None:
        self._tools = tools
        self._key: SampleKey | None = None
        self._journal: Journal
        self._schemas: list[dict[str, Any]] = []

    async def reset(self, row: DatasetRow, key: SampleKey, *, journal: Journal) -> Observation:
        self._key, self._journal = key, journal
        self._schemas = self._tools.offered(row)
        return Observation(row.messages, self._schemas)

    async def step(self, turn: AssistantTurn) -> StepResult:
        """Runs the calls of a turn; a turn without calls is the final answer."""
        if not turn.tool_calls:
            return StepResult(done=True)
        if self._key is None:
            raise RuntimeError("a step before the reset")
        key = self._key
        replies = await together(
            self._reply(call, CallPosition(key, turn.index, number))
            for number, call in enumerate(turn.tool_calls)
        )
        elapsed_s = max(reply.outcome.latency_s for reply in replies)
        return StepResult(tuple(replies), elapsed_s=elapsed_s)

    async def close(self) -> None:
        if self._key is not None:
            await self._tools.release(self._key)

    async def _reply(self, call: ParsedToolCall, position: CallPosition) -> ToolReply:
        name, arguments = call.name, call.arguments_json
        if (fault := check_arguments(call, self._schemas)) is not None:
            outcome = ToolOutcome(fault.text, fault.error, 0.0, 0)
        else:
            outcome = await self._tools.call(position, name, arguments, journal=self._journal)
        return ToolReply(position, storable(name), storable(arguments), outcome)


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class CallFault:
    text: str
    error: str
    """`unknown_tool` or `bad_arguments`."""


def check_arguments(call: ParsedToolCall, schemas: Sequence[dict[str, Any]]) -> CallFault | None:
    """Returns the model's mistake; `None` when the call may be sent."""
    functions = {tool["function"]["name"]: tool["function"] for tool in schemas}
    function = functions.get(call.name)
    if function is None:
        offered = ", ".join(functions) or "none"
        return CallFault(
            f"Error: there is no tool {call.name!r}. Tools: {offered}.", "unknown_tool"
        )
    try:
        arguments = json.loads(call.arguments_json)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return CallFault("Error: the arguments are not a JSON object.", "bad_arguments")
    if (fault := _mismatch(arguments, function.get("parameters") or {})) is None:
        return None
    return CallFault(f"Error: wrong arguments for {call.name}: {fault}.", "bad_arguments")


def _mismatch(arguments: dict[str, Any], schema: dict[str, Any]) -> str | None:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in arguments:
            return f"{name!r} is missing"
    for name in arguments if schema.get("additionalProperties") is False else ():
        if name not in properties:
            return f"{name!r} is not a parameter"
    for name, value in arguments.items():
        expected = _wrong_type(value, properties.get(name))
        if expected is not None:
            return f"{name!r} must be of type {expected}"
    return None


def _wrong_type(value: Any, schema: Any) -> str | None:
    named = schema.get("type") if isinstance(schema, dict) else None
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not names:
        return None
    if not all(isinstance(name, str) and name in _TYPES for name in names):
        return None
    return None if any(_is(value, name) for name in names) else " or ".join(names)


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


class SingleTurn:
    async def reset(
        self,
        row: DatasetRow,
        key: SampleKey,  # noqa: ARG002 - has no state that a rollout could change
        *,
        journal: Journal,  # noqa: ARG002 - asks nobody
    ) -> Observation:
        return Observation(row.messages, row.tools, single_turn=True)

    async def step(self, turn: AssistantTurn) -> StepResult:  # noqa: ARG002 - any turn is the last
        return StepResult(done=True)

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""


_CODEC: Final = TypeAdapter(ToolOutcome)


async def journalled_outcome(
    journal: Journal,
    call_id: str,
    request: bytes,
    ask: Callable[[], Awaitable[ToolOutcome]],
    *,
    tool: str,
) -> ToolOutcome:
    """The journalled outcome of exactly this request, or that of `ask`. Raises `ToolFailure`."""
    try:
        with SPANS.labelled(tool):
            return await replay_or_ask(journal, call_id, request, ask, codec=_CODEC)
    except EndpointFault as fault:
        failure = Failure(FailureClass.of_fault(fault.kind, "tool"), fault.message, source=tool)
        raise ToolFailure(failure) from fault


class HttpTools:
    def __init__(
        self, endpoints: EndpointPool, signer: CallSigner, tools: Sequence[ToolSpec]
    ) -> None:
        self._signer = signer
        self._tools = {tool.name: tool for tool in tools}
        self._endpoints: dict[str, Endpoint] = {
            tool.name: endpoints.endpoint(tool.server_url, rate_limit=declared_rate(tool))
            for tool in tools
        }

    def offered(self, row: DatasetRow) -> list[dict[str, Any]]:
        return [tool for tool in row.tools if tool["function"]["name"] in self._tools]

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        request = ToolCall(
            name=name,
            arguments=arguments,
            call_id=position.call_id,
            function_call_id=position.function_call_id,
            trace_id=position.key.trace_id,
        ).request(self._tools[name].headers)

        async def ask() -> ToolOutcome:
            return await call_tool(self._endpoints[name], request, signer=self._signer)

        return await journalled_outcome(journal, request.call_id, request.body, ask, tool=name)

    async def release(self, key: SampleKey) -> None:
        """Does nothing: no connection belongs to one rollout."""


class JobTools:
    """Several sets of tools, whose names differ."""

    def __init__(self, kinds: Sequence[RolloutTools]) -> None:
        self._kinds = kinds
        self._owners: dict[str, RolloutTools] = {}

    def offered(self, row: DatasetRow) -> list[dict[str, Any]]:
        offered = [(tool, kind) for kind in self._kinds for tool in kind.offered(row)]
        self._owners |= {tool["function"]["name"]: kind for tool, kind in offered}
        return [tool for tool, _ in offered]

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        return await self._owners[name].call(position, name, arguments, journal=journal)

    async def release(self, key: SampleKey) -> None:
        for kind in self._kinds:
            await kind.release(key)


class McpTools:
    def __init__(
        self, endpoints: EndpointPool, signer: CallSigner, servers: Sequence[McpServerSpec]
    ) -> None:
        self.servers = tuple(servers)
        listed = [(one, one.listing) for one in servers if one.listing is not None]
        self._owners = {tool.name: one.server_label for one, of in listed for tool in of.tools}
        self._servers = {
            one.server_label: (called_server(one, endpoints, signer), of) for one, of in listed
        }
        self._sessions: dict[SampleKey, dict[str, McpSession]] = {}

    def offered(self, row: DatasetRow) -> list[dict[str, Any]]:
        return [tool for tool in row.tools if tool["function"]["name"] in self._owners]

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        call = McpCall(name, arguments, position.call_id)

        async def ask() -> ToolOutcome:
            return await self._call(self._session(position.key, self._owners[name]), call)

        return await journalled_outcome(journal, call.call_id, call.encode(), ask, tool=name)

    async def _call(self, session: McpSession, call: McpCall) -> ToolOutcome:
        """A missing tool is a fault of the server; only the listing tells it from other errors."""
        outcome = await session.call(call)
        if denies_the_tool(call.name, outcome) and not await still_lists(session, call.name):
            raise EndpointFault(
                FaultKind.ERROR, "no longer has this tool, which it listed when the job began"
            )
        return outcome

    async def release(self, key: SampleKey) -> None:
        for session in self._sessions.pop(key, {}).values():
            await session.close()

    def _session(self, key: SampleKey, label: str) -> McpSession:
        sessions = self._sessions.setdefault(key, {})
        if label not in sessions:
            server, listing = self._servers[label]
            sessions[label] = McpSession(
                server, trace_id=key.trace_id, protocol_version=listing.protocol_version
            )
        return sessions[label]
