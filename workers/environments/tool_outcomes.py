"""The outcome of a tool call, whatever kind of tool was called.

Owns the order of journal and call, and the rule for faults: a fault of the tool's server raises
`ToolFailure`, which removes the rollout from its batch. Must not know how a tool is reached.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from pydantic import TypeAdapter

from app.domain.rollouts.trajectory import Failure
from app.domain.tools.outcome import ToolOutcome
from app.gateways.endpoints.calls import EndpointFault
from app.gateways.endpoints.failure_class import failure_class
from app.telemetry.spans import SPANS
from workers.journal.journal import Journal
from workers.journal.replay import replay_or_ask
from workers.rollout.tools import ToolFailure

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
        failure = Failure(failure_class(fault.kind, "tool"), fault.message, source=tool)
        raise ToolFailure(failure) from fault
