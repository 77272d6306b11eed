"""The streaming mode: gradients of the groups that are there, while the others are sampled.

A step is cut into `minibatches` parts; whenever that many groups have arrived, whoever they are,
their gradient sum is added. The optimizer steps once, when the last part is in, and divides by the
trained tokens of the whole step then: the parts' own counts weigh nothing, and the step stays
on-policy. Groups that train nothing fill their part like others. Sums are added in the order of
arrival, which differs from run to run, so two runs agree to rounding and not to the bit.
"""

import asyncio
import time
from typing import Any

from app.domain.data.dataset import DatasetRow
from app.domain.rollouts import metrics as names
from workers.learning.compute_thread import run_on_compute_thread
from workers.reinforcement.schedulers.groups import PreparedGroup, prepare, samples_of
from workers.reinforcement.schedulers.mode import PromptSchedule, SchedulerContext
from workers.reinforcement.schedulers.reading import StepReading
from workers.rollout.runner import run_rollouts
from workers.runs.step_outcome import StepOutcome

Arrivals = asyncio.Queue[tuple[int, PreparedGroup]]
"""Place in the step, and the group. Without a bound: what is sampled is bounded by the step."""


class StreamingMode:
    def __init__(self, rooms: SchedulerContext, *, minibatches: int) -> None:
        self._rooms = rooms
        self._minibatches = minibatches
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
        rows = self._feed.rows(step)
        arrivals: Arrivals = asyncio.Queue()
        try:
            async with asyncio.TaskGroup() as tasks:
                sampling = tasks.create_task(self._sample(rows, step, arrivals))
                training = tasks.create_task(self._train(len(rows), arrivals))
        except BaseExceptionGroup as faults:
            # One cause is enough for the run to decide on; the other was cancelled by it.
            raise faults.exceptions[0] from faults
        groups, training_s = training.result()
        outcome = self._reading.outcome(step, groups)
        self._feed.check(outcome.train_rollouts)
        started = time.perf_counter()
        with self._reading.trainer_clock:
            stats = await run_on_compute_thread(self._rooms.trainer.step)
        if outcome.trained_tokens:
            outcome.train_values.update(stats)
        outcome.train_values[names.TIME_SAMPLING] = sampling.result()
        outcome.train_values[names.TIME_TRAINING] = training_s + time.perf_counter() - started
        self._reading.finish(outcome)
        return outcome

    async def committed(self, step: int) -> None:
        """Nothing waits for it."""

    async def close(self) -> None:
        """Nothing outlives a step."""

    async def _sample(self, rows: Any, step: int, arrivals: Arrivals) -> float:
        """Every group of the step, as it comes; returns the seconds until the last one came."""
        started = time.perf_counter()
        journal = await self._feed.journal(step)
        places = asyncio.Semaphore(self._rooms.room.max_concurrent)

        async def one(place: int, row: DatasetRow) -> None:
            rollouts = await run_rollouts(
                self._rooms.room,
                self._feed.keys(row, step),
                policy=self._rooms.policy,
                journal=journal,
                places=places,
            )
            arrivals.put_nowait((place, prepare(rollouts, self._rooms.recipe)))

        try:
            async with asyncio.TaskGroup() as tasks:
                for place, row in enumerate(rows):
                    tasks.create_task(one(place, row))
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from faults
        return time.perf_counter() - started

    async def _train(self, count: int, arrivals: Arrivals) -> tuple[list[PreparedGroup], float]:
        """Add part after part; returns the groups in the step's own order, and the seconds of it.

        Within a part, groups stand in that order too.
        """
        arrived: list[tuple[int, PreparedGroup]] = []
        training_s = 0.0
        parts = min(self._minibatches, count)
        for part in range(parts):
            size = count * (part + 1) // parts - len(arrived)
            these = sorted([await arrivals.get() for _ in range(size)], key=lambda one: one[0])
            arrived += these
            samples = samples_of([group for _, group in these])
            started = time.perf_counter()
            if samples:
                with self._reading.trainer_clock:
                    await run_on_compute_thread(self._rooms.trainer.accumulate, samples)
            training_s += time.perf_counter() - started
        return [group for _, group in sorted(arrived, key=lambda one: one[0])], training_s
