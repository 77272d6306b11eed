"""The environment of a rollout that consists of a set of tools."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.files.datasets import DatasetRow
from app.kit.errors import first_fault
from app.kit.ids import SampleKey
from app.kit.texts import storable
from app.rollouts.tool_formats import ParsedToolCall
from app.tools.tools import ToolOutcome
from workers.journal import Journal
from workers.rollout.environment import (
    AssistantTurn,
    CallPosition,
    Observation,
    RolloutTools,
    StepResult,
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
    fault = _mismatch(arguments, function.get("parameters") or {})
    if fault is None:
        return None
    return CallFault(f"Error: wrong arguments for {call.name}: {fault}.", "bad_arguments")


def _mismatch(arguments: dict[str, Any], schema: dict[str, Any]) -> str | None:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in arguments:
            return f"{name!r} is missing"
    if schema.get("additionalProperties") is False:
        for name in arguments:
            if name not in properties:
                return f"{name!r} is not a parameter"
    for name, value in arguments.items():
        expected = _wrong_type(value, properties.get(name))
        if expected is not None:
            return f"{name!r} must be of type {expected}"
    return None


def _wrong_type(value: Any, schema: Any) -> str | None:
    """Returns the expected type; `None` if the value has it or the type is unknown."""
    named = schema.get("type") if isinstance(schema, dict) else None
    names = [named] if isinstance(named, str) else named
    if not isinstance(names, list) or not names:
        return None
    if any(not isinstance(name, str) or name not in _TYPES for name in names):
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
