"""The protocol of the environment of a rollout: reset, then step after step, then close.

Owns the data exchanged by an episode and its environment. An environment sees messages and tool
calls; it must not know tokens, policies or limits.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.environment_steps import EnvironmentStep
from app.domain.texts.storable_text import storable
from app.domain.tools.outcome import ToolOutcome
from app.rendering.formats.tool_format import ParsedToolCall
from workers.journal.journal import Journal
from workers.rollout.tools import CallPosition

Message = dict[str, Any]
"""A message in Chat Completions form."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The start of an episode."""

    messages: list[Message]
    tools: list[dict[str, Any]]
    """Function schemas that the model may call."""
    single_turn: bool = False
    """True if no environment answers: the first turn ends the episode, and its calls are not run.
    """
    source: str | None = None
    """Name of the customer's environment that wrote the prompt. A prompt that cannot be sampled
    from is then a failure of that environment, not a fault of the row.
    """


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """One turn of the model, as its environment sees it."""

    index: int
    """Number of turns before it."""
    content: str
    tool_calls: tuple[ParsedToolCall, ...]
    """The calls that the step limit allows, in the order of the turn."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The reply to one tool call."""

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
    """A user message from the environment, in reply to a turn without tool calls."""

    content: str

    @property
    def text(self) -> str:
        return storable(self.content)

    def message(self, content: str) -> Message:
        return {"role": "user", "content": content}


Reply = ToolReply | UserReply


@dataclass(frozen=True, slots=True)
class StepResult:
    """The environment's answer to a turn."""

    replies: tuple[Reply, ...] = ()
    """One for each tool call, in the order of the turn, or user messages."""
    done: bool = False
    """True if the turn ended the episode. A result without replies must be done."""
    elapsed_s: float = 0.0
    """Seconds that count toward the wall time of the rollout; equal in a replay."""
    step: EnvironmentStep | None = None
    """Reward and numbers of the answer, where a customer's environment gave it."""


class RolloutEnvironment(Protocol):
    """The environment of one rollout; a new one is created for each.

    A replay after a kill resets a new environment and steps it with the same turns. An
    implementation therefore journals every external answer that a second request might change.
    """

    async def reset(self, row: DatasetRow, key: SampleKey, *, journal: Journal) -> Observation:
        """Starts the episode of a row. Called once. Raises `InfrastructureFailure`."""
        ...

    async def step(self, turn: AssistantTurn) -> StepResult:
        """Answers a turn of the model. Raises `InfrastructureFailure`."""
        ...

    async def close(self) -> None:
        """Releases everything; called once, also after a failure or a cancellation.

        Does not raise if an external system is unavailable: the rollout already has its result.
        """
        ...
