"""The interface between a run's loop and its mode, the scheduler of sampling and training.

A mode decides when rollouts are sampled and when they are trained. It decides neither a sample's
gradient, nor the commit of a step, nor the published adapter.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.domain.data.dataset import DatasetRow
from app.domain.ids import GroupKey, SampleKey
from app.domain.rollouts.trajectory import ScoredRollout
from workers.compute.compute_thread import run_on_compute_thread
from workers.journal.journal import Journal
from workers.learning.trainer import Trainer
from workers.reinforcement.schedulers.groups import (
    GroupConfig,
    PreparedGroup,
    prepare,
    with_logprobs,
)
from workers.reinforcement.steps.outcome import SampledStep
from workers.rollout.busy_clock import BusyClock
from workers.rollout.groups import run_group
from workers.rollout.policy import Policy, VersionedPolicy
from workers.rollout.setup import RolloutSetup


@dataclass(frozen=True, slots=True)
class SchedulerContext:
    """The parts that every mode works with."""

    setup: RolloutSetup
    trainer: Trainer
    policy: VersionedPolicy
    group_config: GroupConfig
    sampler_clock: BusyClock = field(default_factory=BusyClock)
    """Runs while a request is at the engine."""

    async def prepared_group(
        self,
        row: DatasetRow,
        keys: Sequence[SampleKey],
        *,
        policy: Policy,
        journal: Journal,
        on_finished: Callable[[], None] = lambda: None,
    ) -> PreparedGroup:
        """Runs the group of a row and makes its training samples."""
        group = await run_group(
            self.setup,
            row,
            keys,
            policy=policy,
            journal=journal,
            on_finished=on_finished,
        )
        return prepare(group, self.group_config)

    async def scored_by_trainer(self, groups: Sequence[PreparedGroup]) -> list[PreparedGroup]:
        """Returns the groups of the last step with the trainer's log-probs, once they are trained.
        Their samples must be in the order in which the trainer received them.
        """
        logprobs = await run_on_compute_thread(self.trainer.trained_logprobs)
        return with_logprobs(groups, logprobs)


def _always(_step: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class PromptSchedule:
    """The prompts of a run, fixed for all of its steps, and the step at which this claim starts."""

    job_id: str
    group_size: int
    total_steps: int
    rows: Callable[[int], Sequence[DatasetRow]]
    """Rows of step 1, 2, … in their order; every call returns the same. They are known once a mode
    may sample the step.
    """
    size: Callable[[int], int]
    """Number of rows of any step."""
    journal: Callable[[int], Awaitable[Journal]]
    """Returns the journal that is kept until the given step is committed."""
    check: Callable[[Sequence[ScoredRollout]], None]
    """Raises `RunFailed` when too many rollouts of a step were lost to train on the rest."""
    within_caps: Callable[[int], bool] = _always
    """Returns whether the run's caps still allow a step, by the usage so far; always true for the
    next step. Sampling ahead for a step that never begins would call tools and graders for nothing.
    """
    committed_step: int = 0
    """The last committed step; 0 in a fresh run."""
    scheduler_state: dict[str, Any] | None = None
    """`StepOutcome.scheduler_state` of the last committed step; `None` in a fresh run."""

    def keys(self, row: DatasetRow, step: int, attempt: int = 0) -> list[SampleKey]:
        """Returns the keys of one group: the samples of a row at a step of the curriculum."""
        return GroupKey(self.job_id, "train", step, row.index, attempt).samples(self.group_size)


class Mode(Protocol):
    async def start(self, schedule: PromptSchedule) -> None:
        """Prepares the mode; called once, before the first step of a claim."""
        ...

    async def step(self, step: int) -> SampledStep:
        """Samples and trains one step. Raises what `PromptSchedule.check` and rollouts raise."""
        ...

    async def on_step_committed(self, step: int) -> None:
        """Receives the notice that the step is durable and its version served."""
        ...

    async def close(self) -> None:
        """Stops all running work; also called after a fault."""
        ...
