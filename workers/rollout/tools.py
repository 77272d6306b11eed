"""The protocol of the tools that a rollout may call.

Owns the position of a call, from which all of its ids are derived, and the failure of a tool.
Implementations live in `workers.environments`. Must not know how a tool is reached.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import Failure
from app.domain.tools.outcome import ToolOutcome
from workers.journal.journal import Journal


class InfrastructureFailure(Exception):
    """Infrastructure behind a rollout failed for good: the rollout leaves the batch."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.source}: {failure.message}")
        self.failure = failure


class ToolFailure(InfrastructureFailure):
    """A tool endpoint failed for good."""


@dataclass(frozen=True, slots=True)
class CallPosition:
    """The position of a tool call in its rollout."""

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
    """The tools of one job, shared by its rollouts."""

    def offered(self, row: DatasetRow) -> list[dict[str, Any]]:
        """Returns the function schemas that the model may call on a row, in the row's order."""
        ...

    async def call(
        self, position: CallPosition, name: str, arguments: str, *, journal: Journal
    ) -> ToolOutcome:
        """Runs one call to an offered tool. `arguments` is a JSON object that fits the schema.

        The outcome is journalled under the call's id before it is returned. Output and error are
        storable text. Raises `ToolFailure`.
        """
        ...

    async def release(self, key: SampleKey) -> None:
        """Releases a rollout's sessions with the tools; called once at its end. Does not raise if
        an external system is unavailable.
        """
        ...
