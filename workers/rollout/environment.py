"""What an episode acts in and samples from: the environment, which sees messages and calls alone,
the policy, which gives tokens, and the limits.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from app.files.datasets import DatasetRow
from app.kit.ids import SampleKey
from app.kit.texts import storable
from app.rollouts.tool_formats import ParsedToolCall
from app.rollouts.trajectory import UNPARSABLE_CALL, EnvironmentStep, Failure, ToolCallRecord
from app.tools.tools import ToolOutcome
from workers.journal import Journal


class InfrastructureFailure(Exception):
    """Infrastructure behind a rollout failed for good: the rollout leaves the batch."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure


class ToolFailure(InfrastructureFailure):
    """A tool endpoint failed for good."""


@dataclass(frozen=True, slots=True)
class CallPosition:
    key: SampleKey
    turn: int
    call: int

    @property
    def call_id(self) -> str:
        return self.key.call_id(self.turn, self.call)

    @property
    def function_call_id(self) -> str:
        return self.key.function_call_id(self.turn, self.call)


class RolloutTools(Protocol):
    def offered(self, row: DatasetRow) -> list[dict[str, Any]]: ...

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        """Runs one call to an offered tool. `arguments` is a JSON object that fits the schema. The
        outcome is journalled under the call's id before it is returned. Output and error are
        storable text. Raises `ToolFailure`.
        """
        ...

    async def release(self, key: SampleKey) -> None:
        """Called once, at the rollout's end. Does not raise if a system is unavailable."""
        ...


Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Observation:
    messages: list[Message]
    tools: list[dict[str, Any]]
    single_turn: bool = False
    """True if no environment answers: the first turn ends the episode, and its calls are not run.
    """
    source: str | None = None
    """Name of the customer's environment that wrote the prompt: a bad prompt is its failure."""


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    index: int
    content: str
    tool_calls: tuple[ParsedToolCall, ...]
    """The calls that the step limit allows, in the order of the turn."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    position: CallPosition
    name: str
    arguments: str
    outcome: ToolOutcome

    @property
    def text(self) -> str:
        return self.outcome.output

    def message(self, content: str) -> Message:
        return {
            "role": "tool",
            "tool_call_id": self.position.call_id,
            "name": self.name,
            "content": content,
        }


@dataclass(frozen=True, slots=True)
class UserReply:
    content: str

    @property
    def text(self) -> str:
        return storable(self.content)

    def message(self, content: str) -> Message:
        return {"role": "user", "content": content}


Reply = ToolReply | UserReply


@dataclass(frozen=True, slots=True)
class StepResult:
    replies: tuple[Reply, ...] = ()
    """One for each tool call, in the order of the turn, or user messages."""
    done: bool = False
    elapsed_s: float = 0.0
    """Seconds that count toward the wall time of the rollout; equal in a replay."""
    step: EnvironmentStep | None = None
    """Reward and numbers of the answer, where a customer's environment gave it."""


class RolloutEnvironment(Protocol):
    """The environment of one rollout; a new one is created for each. A replay after a kill resets a
    new environment and steps it with the same turns. An implementation therefore journals every
    external answer that a second request might change.
    """

    async def reset(self, row: DatasetRow, key: SampleKey, *, journal: Journal) -> Observation: ...

    async def step(self, turn: AssistantTurn) -> StepResult: ...

    async def close(self) -> None:
        """Called once, also after a failure. Does not raise if a system is unavailable."""
        ...


def call_records(
    shown: Iterable[tuple[Reply, str]],
    *,
    earlier: Iterable[ToolCallRecord],
    count_tokens: Callable[[str], int],
) -> tuple[ToolCallRecord, ...]:
    """A call is repeated if an earlier one of the rollout had its name and arguments."""
    seen = {(call.name, call.arguments) for call in earlier}
    records = []
    for reply, text in shown:
        if isinstance(reply, ToolReply):
            call = (reply.name, reply.arguments)
            repeated = reply.name != UNPARSABLE_CALL and call in seen
            records.append(_record(reply, text, repeated=repeated, tokens=count_tokens(text)))
            seen.add(call)
    return tuple(records)


def _record(reply: ToolReply, text: str, *, repeated: bool, tokens: int) -> ToolCallRecord:
    return ToolCallRecord(
        id=reply.position.function_call_id,
        call_id=reply.position.call_id,
        name=reply.name,
        arguments=reply.arguments,
        output=text,
        error=reply.outcome.error,
        latency_s=reply.outcome.latency_s,
        attempts=reply.outcome.attempts,
        output_tokens=tokens,
        repeated=repeated,
    )


@dataclass(frozen=True, slots=True)
class SamplingParams:
    max_tokens: int
    temperature: float
    seed: int
    stop_token_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SampledTurn:
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Natural logarithms, at the sampling temperature, of the sampled distribution."""
    finish_reason: str
    policy_version: int

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise ValueError("token_ids and logprobs must run parallel")


class Policy(Protocol):
    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        """Continues a prompt. Engine faults are repaired or waited for, never returned."""
        ...


class VersionedPolicy(Policy, Protocol):
    async def sample_at(
        self, version: int, prompt_token_ids: list[int], params: SamplingParams
    ) -> SampledTurn:
        """Samples from a version that is published and not retired. Raises `KeyError`."""
        ...


class BusyClock:
    """A context manager around each piece of work, in one event loop; overlaps count once."""

    def __init__(self) -> None:
        self._users = 0
        self._since = 0.0
        self._busy_s = 0.0

    def __enter__(self) -> None:
        if self._users == 0:
            self._since = time.monotonic()
        self._users += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._users -= 1
        if self._users == 0:
            self._busy_s += time.monotonic() - self._since

    @property
    def is_busy(self) -> bool:
        return self._users > 0

    def reading(self) -> float:
        running = time.monotonic() - self._since if self._users else 0.0
        return self._busy_s + running


class IdleShare:
    def __init__(self, clock: BusyClock) -> None:
        self._clock = clock
        self._at = time.monotonic()
        self._busy_s = clock.reading()

    def read(self) -> float:
        now, busy_s = time.monotonic(), self._clock.reading()
        elapsed = now - self._at
        share = 1.0 - (busy_s - self._busy_s) / elapsed if elapsed > 0 else 0.0
        self._at, self._busy_s = now, busy_s
        return min(1.0, max(0.0, share))


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    max_episode_steps: int
    context_length: int
    max_turn_tokens: int
    wall_time_s: float = 3600.0
    """Of the engine or the environment; waiting for an unavailable endpoint does not count."""
