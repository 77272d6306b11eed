"""The outcome of a tool call, whatever kind of tool was called."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from pydantic import TypeAdapter

from app.files.datasets import DatasetRow
from app.kit.endpoint_pool import Endpoint, EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault
from app.kit.ids import SampleKey
from app.kit.telemetry import SPANS
from app.rollouts.trajectory import Failure, FailureClass
from app.tools.tool_calls import ToolCall, call_tool
from app.tools.tools import ToolOutcome, ToolSpec, declared_rate
from workers.journal import Journal, replay_or_ask
from workers.rollout.environment import CallPosition, RolloutTools, ToolFailure

_CODEC: Final = TypeAdapter(ToolOutcome)


async def journalled_outcome(
    journal: Journal,
    call_id: str,
    request: bytes,
    ask: Callable[[], Awaitable[ToolOutcome]],
    *,
    tool: str,
) -> ToolOutcome:
    """Returns the journalled outcome of exactly this request, or that of `ask`, which raises
    `EndpointFault`, once it is durable. Raises `ToolFailure`.
    """
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
        """Returns the row's tool schemas for which the job has an endpoint."""
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
    """Implements `workers.rollout.environment.RolloutTools` over several sets of tools, whose names
    differ.
    """

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
