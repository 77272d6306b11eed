"""The sync mode: sample the whole step, train on it, publish. The correctness oracle.

Every rollout of a step is sampled from the policy that the previous step published, so the step is
exactly on-policy. The advantages and samples of a group are computed as soon as the group is
finished, beside the sampling of the others. The gradient is taken over the whole step in the
step's own order, so a step is identical to the bit whichever group finished first.
"""

import asyncio
import time

from app.kit.errors import first_fault
from app.rollouts import metrics as names
from workers.compute import run_on_compute_thread
from workers.learning.trainer import UpdateStats
from workers.methods.reinforcement.step_summary import SampledStep
from workers.methods.schedulers.mode import (
    PreparedGroup,
    PromptSchedule,
    SchedulerContext,
    StepReading,
    rollouts_of,
    samples_of,
    settled_groups,
)


class SyncMode:
    def __init__(self, context: SchedulerContext) -> None:
        self._context = context
        self._reading = StepReading(context.sampler_clock)
        self._schedule: PromptSchedule

    async def start(self, schedule: PromptSchedule) -> None:
        self._schedule = schedule

    async def step(self, step: int) -> SampledStep:
        started = time.perf_counter()
        sampled = await self._sample(step)
        sampling_s = time.perf_counter() - started
        self._schedule.check(rollouts_of(sampled))
        groups = settled_groups(sampled, self._context.group_config)
        groups, stats = await self._train(groups)
        values = {names.TIME_SAMPLING: sampling_s, **stats}
        return self._reading.sampled_step(step, groups, values=values)

    async def on_step_committed(self, step: int) -> None:
        """Does nothing: no rollout is sampled ahead."""

    async def close(self) -> None:
        """Does nothing: no task outlives a step."""

    async def _sample(self, step: int) -> list[PreparedGroup]:
        journal = await self._schedule.journal(step)
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                groups = [
                    tasks.create_task(
                        self._context.prepared_group(
                            row,
                            self._schedule.keys(row, step),
                            policy=self._context.policy,
                            journal=journal,
                        )
                    )
                    for row in self._schedule.rows(step)
                ]
        return [group.result() for group in groups]

    async def _train(self, groups: list[PreparedGroup]) -> tuple[list[PreparedGroup], UpdateStats]:
        """Makes one update on the step's samples; none if there are no samples. Returns the groups
        as the trainer scored them, and the update's statistics.
        """
        stats: UpdateStats = {}
        started = time.perf_counter()
        samples = samples_of(groups)
        if samples:
            with self._reading.trainer_clock:
                stats = await run_on_compute_thread(self._context.trainer.update, samples)
                groups = await self._context.scored_by_trainer(groups)
        return groups, {**stats, names.TIME_TRAINING: time.perf_counter() - started}
