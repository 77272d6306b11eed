"""The sync mode: sample the whole step, train on it, publish. The correctness oracle.

Every rollout of a step is sampled from the policy the previous step published, so the step is
exactly on-policy. A group's advantages and samples are made as soon as the group is there, beside
the sampling of the others; the gradient is taken of the whole step in its own order, so a step is
the same to the bit whatever came first.
"""

import asyncio
import time
from typing import Any

from app.domain.data.dataset import DatasetRow
from app.domain.rollouts import metrics as names
from workers.journal.journal import Journal
from workers.learning.compute_thread import run_on_compute_thread
from workers.reinforcement.schedulers.groups import PreparedGroup, prepare, step_samples
from workers.reinforcement.schedulers.mode import PromptSchedule, SchedulerContext
from workers.reinforcement.schedulers.reading import StepReading
from workers.rollout.runner import run_rollouts
from workers.runs.step_outcome import StepOutcome


class SyncMode:
    def __init__(self, rooms: SchedulerContext) -> None:
        self._rooms = rooms
        self._reading = StepReading(rooms.sampler_clock)
        self._feed: PromptSchedule

    async def start(
        self,
        feed: PromptSchedule,
        *,
        committed: int,  # noqa: ARG002 - a step needs nothing of those before it
        saved: dict[str, Any] | None,  # noqa: ARG002 - as above
    ) -> None:
        self._feed = feed

    async def step(self, step: int) -> StepOutcome:
        started = time.perf_counter()
        journal = await self._feed.journal(step)
        places = asyncio.Semaphore(self._rooms.room.max_concurrent)
        rows = self._feed.rows(step)
        try:
            async with asyncio.TaskGroup() as tasks:
                sampled = [
                    tasks.create_task(self._group(row, step, journal, places)) for row in rows
                ]
        except BaseExceptionGroup as faults:
            # One cause is enough for the run to decide on; the others were cancelled by it.
            raise faults.exceptions[0] from faults
        groups = [task.result() for task in sampled]
        outcome = self._reading.outcome(step, groups)
        outcome.train_values[names.TIME_SAMPLING] = time.perf_counter() - started
        self._feed.check(outcome.train_rollouts)
        await self._train(outcome, groups)
        self._reading.finish(outcome)
        return outcome

    async def committed(self, step: int) -> None:
        """Nothing waits for it."""

    async def close(self) -> None:
        """Nothing outlives a step."""

    async def _group(
        self, row: DatasetRow, step: int, journal: Journal, places: asyncio.Semaphore
    ) -> PreparedGroup:
        rollouts = await run_rollouts(
            self._rooms.room,
            self._feed.keys(row, step),
            policy=self._rooms.policy,
            journal=journal,
            places=places,
        )
        return prepare(rollouts, self._rooms.recipe)

    async def _train(self, outcome: StepOutcome, groups: list[PreparedGroup]) -> None:
        """One update on what was sampled; a step with nothing to learn from makes none."""
        started = time.perf_counter()
        samples = step_samples(groups, self._rooms.recipe)
        if samples:
            with self._reading.trainer_clock:
                stats = await run_on_compute_thread(self._rooms.trainer.update, samples)
            outcome.train_values.update(stats)
        outcome.train_values[names.TIME_TRAINING] = time.perf_counter() - started
