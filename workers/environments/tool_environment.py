"""The environment of a rollout that consists of a set of tools.

Owns the check of a call before it is sent and the concurrency of a turn's calls. Promises: calls
of a turn run concurrently, replies are in the order of the calls, and the first failing tool ends
the rollout. Must not know the transport of a tool.
"""

import asyncio
from typing import Any

from app.domain.data.dataset import DatasetRow
from app.domain.errors import first_fault
from app.domain.ids import SampleKey
from app.domain.texts.storable_text import storable
from app.domain.tools.outcome import ToolOutcome
from app.rendering.formats.tool_format import ParsedToolCall
from workers.environments.arguments import check_arguments
from workers.journal.journal import Journal
from workers.rollout.environment import AssistantTurn, Observation, StepResult, ToolReply
from workers.rollout.tools import CallPosition, RolloutTools


class ToolEnvironment:
    """Implements `workers.rollout.environment.RolloutEnvironment` over `RolloutTools`."""

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
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                replies = [
                    tasks.create_task(self._reply(call, CallPosition(key, turn.index, number)))
                    for number, call in enumerate(turn.tool_calls)
                ]
        finished = tuple(reply.result() for reply in replies)
        return StepResult(finished, elapsed_s=max(reply.outcome.latency_s for reply in finished))

    async def close(self) -> None:
        """Releases the rollout's sessions; the tools belong to the job."""
        if self._key is not None:
            await self._tools.release(self._key)

    async def _reply(self, call: ParsedToolCall, position: CallPosition) -> ToolReply:
        outcome = await self._call(call, position)
        return ToolReply(position, storable(call.name), storable(call.arguments_json), outcome)

    async def _call(self, call: ParsedToolCall, position: CallPosition) -> ToolOutcome:
        """Answers a call that cannot be sent with a text for the model; sends any other."""
        fault = check_arguments(call, self._schemas)
        if fault is not None:
            return ToolOutcome(fault.text, fault.error, 0.0, 0)
        return await self._tools.call(
            position, call.name, call.arguments_json, journal=self._journal
        )
