"""Tools behind the customer's own HTTP endpoints, in the hosted Agent RFT shape.

Owns the mapping of tools to endpoints. Must not know tokens, the wire format or the reward.
"""

from collections.abc import Sequence
from typing import Any

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.tools.outcome import ToolOutcome
from app.domain.tools.rates import declared_rate
from app.domain.tools.tools import ToolSpec
from app.gateways.endpoints.pool import Endpoint, EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.endpoints.tool_calls import ToolCall, call_tool
from workers.environments.tool_outcomes import journalled_outcome
from workers.journal.journal import Journal
from workers.rollout.tools import CallPosition


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
