"""Tool calls of a rollout: from what the model wrote to what the model reads.

Owns the request and reply of the hosted contract (`reference` shape: `function_call` in,
`function_call_output` out) and whose fault a bad outcome is: what the model can learn from becomes
text, everything else raises `ToolFailure` and costs the rollout. Must not know tokens.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from app.domain.ids import SampleKey
from app.domain.tools import ToolSpec
from app.domain.trajectory import Failure, FailureClass
from app.gateways.egress import EgressReply
from app.gateways.endpoints import (
    Endpoint,
    EndpointFault,
    EndpointPool,
    EndpointRequest,
    FaultKind,
)
from app.gateways.signing import CallSigner
from app.rendering.hermes import ParsedToolCall
from workers.rollout.arguments import check_arguments
from workers.rollout.journal import Journal
from workers.rollout.memory import remembered
from workers.rollout.storable_text import storable

_TOO_LARGE_REQUEST: Final = "Error: 413 the arguments are larger than 1 MB."
_TOO_LARGE_REPLY: Final = "Error: 413 the tool's reply is larger than 1 MB."
_MAX_ERROR_TEXT: Final = 8_000
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
class ToolOutcome:
    """What the model is told, and whether it is at fault."""

    output: str
    error: str | None
    latency_s: float
    attempts: int
    """HTTP attempts; 0 when the call never left."""


@dataclass(frozen=True, slots=True)
class CallPlace:
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
            tool.name: endpoints.endpoint(tool.server_url, rate_limit=_declared_rate(tool))
            for tool in tools
        }

    def offered(self, tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The schemas of a row that this job can call, in the row's order."""
        return [tool for tool in tools if tool["function"]["name"] in self._tools]

    async def call(
        self,
        call: ParsedToolCall,
        place: CallPlace,
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
        request = EndpointRequest(
            headers=self._tools[call.name].headers or {},
            body=_body(call, place),
            call_id=place.call_id,
            trace_id=place.key.trace_id,
        )

        async def ask() -> dict[str, Any]:
            return asdict(await self._ask(call.name, request))

        return ToolOutcome(**await remembered(journal, request.call_id, request.body, ask))

    async def _ask(self, name: str, request: EndpointRequest) -> ToolOutcome:
        try:
            answer = await self._endpoints[name].call(request, _read, signer=self._signer)
        except EndpointFault as fault:
            if fault.kind is FaultKind.TOO_LARGE:
                text = _TOO_LARGE_REPLY if fault.attempts else _TOO_LARGE_REQUEST
                return ToolOutcome(text, "too_large", 0.0, fault.attempts)
            failure = Failure(_CLASSES[fault.kind], fault.message, source=name)
            raise ToolFailure(failure) from fault
        output, error = answer.value
        return ToolOutcome(output, error, answer.latency_s, answer.attempts)


def _declared_rate(tool: ToolSpec) -> float | None:
    """Hosted tools may carry `rate_limit` as an extra key, requests per second."""
    rate = (tool.model_extra or {}).get("rate_limit")
    if isinstance(rate, int | float) and not isinstance(rate, bool) and rate > 0:
        return float(rate)
    return None


def _body(call: ParsedToolCall, place: CallPlace) -> bytes:
    """ASCII JSON, so that whatever the model wrote can be sent."""
    request = {
        "type": "function_call",
        "id": place.function_call_id,
        "call_id": place.call_id,
        "name": call.name,
        "arguments": call.arguments_json,
        "trace_id": place.key.trace_id,
        "item": {},
    }
    return json.dumps(request, separators=(",", ":")).encode()


def _read(reply: EgressReply) -> tuple[str, str | None]:
    """Text for the model, and the class of its mistake. Raises `EndpointFault`."""
    if reply.status < 400:  # noqa: PLR2004 - HTTP's own
        output = _output(reply)
        if not 200 <= reply.status < 300 or output is None:  # noqa: PLR2004 - HTTP's own
            raise EndpointFault(
                FaultKind.BAD_REPLY, f"answered {reply.status} without a text `output`"
            )
        return output, "tool_reported" if output.startswith("Error") else None
    output = _output(reply)
    if output is None:
        payload = reply.body.decode(errors="replace").strip()[:_MAX_ERROR_TEXT]
        output = storable(f"Error: {reply.status} {payload}".rstrip())
    return output, f"http_{reply.status}"


def _output(reply: EgressReply) -> str | None:
    try:
        content = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    output = content.get("output") if isinstance(content, dict) else None
    return storable(output) if isinstance(output, str) else None
