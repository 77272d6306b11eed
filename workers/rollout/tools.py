"""Tool calls of a rollout: from what the model wrote to what the model reads.

Owns which call may be sent and whose fault a bad outcome is: what the model can learn from becomes
text, everything else raises `ToolFailure` and costs the rollout. Must not know tokens, nor the
shapes on the wire.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter

from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import Failure, FailureClass
from app.domain.tools.tools import ToolSpec
from app.gateways.endpoints.pool import (
    Endpoint,
    EndpointFault,
    EndpointPool,
    EndpointRequest,
    FaultKind,
)
from app.gateways.endpoints.signing import CallSigner
from app.gateways.endpoints.tool_calls import FunctionCall, ToolOutcome, call_tool, declared_rate
from app.rendering.hermes import ParsedToolCall
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask
from workers.rollout.arguments import check_arguments

__all__ = ["CallPosition", "ToolCaller", "ToolFailure", "ToolOutcome"]

_CODEC: Final = TypeAdapter(ToolOutcome)
_CLASSES: Final = {
    FaultKind.ERROR: FailureClass.TOOL_ERROR,
    FaultKind.TIMEOUT: FailureClass.TOOL_TIMEOUT,
    FaultKind.UNREACHABLE: FailureClass.TOOL_UNREACHABLE,
    FaultKind.BAD_REPLY: FailureClass.TOOL_BAD_REPLY,
    FaultKind.REFUSED: FailureClass.ENDPOINT_REFUSED,
}


class ToolFailure(Exception):
    """A tool endpoint failed for good: the rollout leaves the batch."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure


@dataclass(frozen=True, slots=True)
class CallPosition:
    """Where a call stands in its rollout: everything its ids are made of."""

    key: SampleKey
    turn: int
    call: int

    @property
    def call_id(self) -> str:
        return self.key.call_id(self.turn, self.call)

    @property
    def function_call_id(self) -> str:
        return self.key.function_call_id(self.turn, self.call)


class ToolCaller:
    """The tools of one job."""

    def __init__(
        self, endpoints: EndpointPool, signer: CallSigner, tools: Sequence[ToolSpec]
    ) -> None:
        self._signer = signer
        self._tools = {tool.name: tool for tool in tools}
        self._endpoints: dict[str, Endpoint] = {
            tool.name: endpoints.endpoint(tool.server_url, rate_limit=declared_rate(tool))
            for tool in tools
        }

    def offered(self, tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The schemas of a row that this job can call, in the row's order."""
        return [tool for tool in tools if tool["function"]["name"] in self._tools]

    async def call(
        self,
        call: ParsedToolCall,
        place: CallPosition,
        *,
        schemas: Sequence[dict[str, Any]],
        journal: Journal,
    ) -> ToolOutcome:
        """Run one call of the model. Raises `ToolFailure`.

        A name that was not offered, or arguments that its schema rules out, come back as text
        without a request.
        """
        fault = check_arguments(call, schemas)
        if fault is not None:
            return ToolOutcome(fault.text, fault.error, 0.0, 0)
        request = FunctionCall(
            name=call.name,
            arguments=call.arguments_json,
            call_id=place.call_id,
            function_call_id=place.function_call_id,
            trace_id=place.key.trace_id,
        ).request(self._tools[call.name].headers)

        async def ask() -> ToolOutcome:
            return await self._ask(call.name, request)

        return await replay_or_ask(journal, request.call_id, request.body, ask, codec=_CODEC)

    async def _ask(self, name: str, request: EndpointRequest) -> ToolOutcome:
        try:
            return await call_tool(self._endpoints[name], request, signer=self._signer)
        except EndpointFault as fault:
            failure = Failure(_CLASSES[fault.kind], fault.message, source=name)
            raise ToolFailure(failure) from fault
