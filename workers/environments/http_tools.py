"""Tools behind the customer's own HTTP endpoints, in the hosted Agent RFT shape.

Owns the classification of outcomes: a text that the model can learn from is returned, every other
outcome raises `ToolFailure`, which removes the rollout from its batch. Must not know tokens or the
wire format.
"""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import TypeAdapter

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import Failure
from app.domain.tools.outcome import ToolOutcome
from app.domain.tools.rates import declared_rate
from app.domain.tools.tools import ToolSpec
from app.gateways.endpoints.failure_class import failure_class
from app.gateways.endpoints.pool import (
    Endpoint,
    EndpointFault,
    EndpointPool,
    EndpointRequest,
)
from app.gateways.endpoints.signing import CallSigner
from app.gateways.endpoints.tool_calls import ToolCall, call_tool
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask
from workers.rollout.tools import CallPosition, ToolFailure

_CODEC: Final = TypeAdapter(ToolOutcome)


class HttpTools:
    """Implements `workers.rollout.tools.RolloutTools` over the endpoints of one job."""

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
        """Returns the schemas of a row whose tools have an endpoint in the job."""
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
            return await self._ask(name, request)

        return await replay_or_ask(journal, request.call_id, request.body, ask, codec=_CODEC)

    async def release(self, key: SampleKey) -> None:
        """Does nothing: a call leaves nothing open."""

    async def _ask(self, name: str, request: EndpointRequest) -> ToolOutcome:
        try:
            return await call_tool(self._endpoints[name], request, signer=self._signer)
        except EndpointFault as fault:
            failure = Failure(failure_class(fault.kind, "tool"), fault.message, source=name)
            raise ToolFailure(failure) from fault
