"""What a run asks of a mode, and what a mode is given: the one interface the loop drives.

A mode decides when rollouts are sampled and when they are trained. It never decides what a sample's
gradient is, when a step is committed or what is published.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import ScoredRollout
from workers.journal.journal import Journal
from workers.learning.trainer import Trainer
from workers.reinforcement.schedulers.groups import GroupRecipe
from workers.rollout.busy_clock import BusyClock
from workers.rollout.policy import VersionedPolicy
from workers.rollout.runner import RolloutSetup
from workers.runs.step_outcome import StepOutcome


@dataclass(frozen=True, slots=True)
class SchedulerContext:
    """What every mode works with."""

    room: RolloutSetup
    trainer: Trainer
    policy: VersionedPolicy
    recipe: GroupRecipe
    sampler_clock: BusyClock = field(default_factory=BusyClock)
    """Runs while a request is at the engine."""


def _always(_step: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class PromptSchedule:
    """A run's prompts, fixed for all of its steps."""

    job_id: str
    group_size: int
    total_steps: int
    rows: Callable[[int], Sequence[DatasetRow]]
    """Rows of step 1, 2, …, in their order; every call gives the same."""
    journal: Callable[[int], Awaitable[Journal]]
    """What is remembered up to the commit of a step."""
    check: Callable[[Sequence[ScoredRollout]], None]
    """Raises `RunFailed` when too much of a step was lost to train on the rest."""
    within_caps: Callable[[int], bool] = _always
    """Whether a step will begin, as far as can be told by now: what is sampled ahead of one that
    will not calls tools and graders for nothing. True of the next step.
    """

    def keys(
        self, row: DatasetRow, step: int, attempt: int = 0
    ) -> list[tuple[DatasetRow, SampleKey]]:
        """One group: the samples of a row at its place in the curriculum."""
        return [
            (row, SampleKey(self.job_id, "train", step, row.index, sample, attempt))
            for sample in range(self.group_size)
        ]


class Mode(Protocol):
    async def start(
        self, feed: PromptSchedule, *, committed: int, saved: dict[str, Any] | None
    ) -> None:
        """Before the first step of a claim. `saved` is `scheduler_state` of the outcome of step
        `committed`; both are empty for a fresh run.
        """
        ...

    async def step(self, step: int) -> StepOutcome:
        """Sample and train one step. Raises what `Feed.check` and the rooms raise."""
        ...

    async def committed(self, step: int) -> None:
        """The step is durable and its version is served; only now may it be built upon."""
        ...

    async def close(self) -> None:
        """Stop whatever still runs; also after a fault."""
        ...
