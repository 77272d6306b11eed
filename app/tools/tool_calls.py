"""Encodes a tool call and converts its reply to text for the model."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from app.kit.egress import EgressReply
from app.kit.endpoint_pool import Endpoint
from app.kit.endpoints import CallSigner, EndpointFault, EndpointRequest, FaultKind
from app.kit.http import is_error, is_success
from app.kit.replies import CREDENTIALS_REFUSED, error_reply, wrong_reply
from app.kit.texts import storable
from app.tools.tools import ToolOutcome

TOO_LARGE_REQUEST: Final = "Error: 413 the arguments are larger than 1 MB."
TOO_LARGE_REPLY: Final = "Error: 413 the tool's reply is larger than 1 MB."
_MAX_ERROR_TEXT: Final = 8_000
UNREADABLE_ARGUMENTS: Final = '{"unfinished": '
"""Arguments of tests: a tool that reads them cannot act."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model. Source: the hosted Agent RFT tool call."""

    name: str
    arguments: str
    call_id: str
    """`call_…`: the idempotency key of the call over all its attempts."""
    function_call_id: str
    """`fc_…`: the id of the `function_call` item."""
    trace_id: str
    item: dict[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        request = {
            "type": "function_call",
            "id": self.function_call_id,
            "call_id": self.call_id,
            "name": self.name,
            "arguments": self.arguments,
            "trace_id": self.trace_id,
            "item": self.item,
        }
        return json.dumps(request, separators=(",", ":")).encode()

    def request(self, headers: dict[str, str] | None) -> EndpointRequest:
        return EndpointRequest(
            headers=headers or {}, body=self.encode(), call_id=self.call_id, trace_id=self.trace_id
        )


async def call_tool(
    endpoint: Endpoint,
    request: EndpointRequest,
    *,
    signer: CallSigner,
    hidden: Callable[[str], str] = str,
) -> ToolOutcome:
    try:
        answer = await endpoint.call(request, partial(read_output, hidden=hidden), signer=signer)
    except EndpointFault as fault:
        if fault.kind is not FaultKind.TOO_LARGE:
            raise
        text = TOO_LARGE_REPLY if fault.attempts else TOO_LARGE_REQUEST
        return ToolOutcome(text, "too_large", 0.0, fault.attempts)
    output, error = answer.value
    return ToolOutcome(output, error, answer.latency_s, answer.attempts)


def read_output(
    reply: EgressReply, *, hidden: Callable[[str], str] = str
) -> tuple[str, str | None]:
    output = _output(reply)
    if reply.status in CREDENTIALS_REFUSED:
        raise error_reply(reply, "check the 'headers' of the tool")
    if not is_error(reply.status):
        if not is_success(reply.status) or output is None:
            raise wrong_reply(reply, "a text", "output")
        return output, "tool_reported" if output.startswith("Error") else None
    if output is None:
        # Hidden before the cut: a part of a credential is not found.
        payload = hidden(reply.body.decode(errors="replace").strip())[:_MAX_ERROR_TEXT]
        output = storable(f"Error: {reply.status} {payload}".rstrip())
    return output, f"http_{reply.status}"


def unread_status(output: str, error: str | None) -> int | None:
    """Returns the status of an error reply that had no text `output`; `None` for another outcome.
    Arguments are those of the `ToolOutcome`.
    """
    status = (error or "").removeprefix("http_")
    return int(status) if status.isdigit() and output.startswith(f"Error: {status}") else None


def _output(reply: EgressReply) -> str | None:
    try:
        content = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    output = content.get("output") if isinstance(content, dict) else None
    return storable(output) if isinstance(output, str) else None
