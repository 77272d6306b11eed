"""The environment of a job without tools: one turn, which the grader scores with its calls.

Owns the rule for a row's own tools: they are offered to the model, and its calls are not run but
passed to the graders as `sample.output_tools`, as in reinforcement fine-tuning without an agent.
Must not know endpoints.
"""

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from workers.journal.journal import Journal
from workers.rollout.environment import AssistantTurn, Observation, StepResult


class SingleTurn:
    """Implements `workers.rollout.environment.RolloutEnvironment`."""

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
