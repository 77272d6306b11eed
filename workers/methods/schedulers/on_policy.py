"""The modes that stay on-policy: every rollout of a step is sampled from the policy that the step
before published.
"""

import asyncio
import time
from collections.abc import Sequence

from typing_extensions import override

from app.files.datasets import DatasetRow
from app.kit.errors import first_fault
from app.rollouts import metrics as names
from workers.compute import run_on_compute_thread
from workers.learning.trainer import UpdateStats
from workers.methods.reinforcement.step_summary import SampledStep
from workers.methods.schedulers.mode import (
    Mode,
    PreparedGroup,
    SchedulerContext,
    rollouts_of,
    samples_of,
    settled_groups,
)


class SyncMode(Mode):
    """Samples the whole step, trains on it, publishes: the correctness oracle.

    The samples of a group are computed as soon as it is finished, beside the sampling of the
    others. The gradient is taken over the whole step in the step's own order, so a step is
    identical to the bit whichever group finished first.
    """

    @override
    async def step(self, step: int) -> SampledStep:
        started = time.perf_counter()
        sampled = await self._sample(step)
        sampling_s = time.perf_counter() - started
        self._schedule.check(rollouts_of(sampled))
        groups = settled_groups(sampled, self._context.group_config)
        groups, stats = await self._train(groups)
        values = {names.TIME_SAMPLING: sampling_s, **stats}
        return self._reading.sampled_step(step, groups, values=values)

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


Arrival = tuple[int, PreparedGroup]
Arrivals = asyncio.Queue[Arrival]
"""The queue is unbounded: the step bounds it."""


class StreamingMode(Mode):
    """Trains on the groups that are finished while the others are still sampled.

    A step is cut into `minibatches` parts; whenever enough groups for a part have finished, in
    whatever order, their gradient sum is added. The optimizer steps once, after the last part, and
    divides by the trained tokens of the whole step: the sizes of the parts carry no weight. Groups
    that train nothing fill their part like others. Sums are added in the order of arrival, which
    differs from run to run, so two runs agree up to rounding and not to the bit.
    """

    def __init__(self, context: SchedulerContext, *, minibatches: int) -> None:
        super().__init__(context)
        self._minibatches = minibatches

    @override
    async def step(self, step: int) -> SampledStep:
        rows = self._schedule.rows(step)
        arrivals: Arrivals = asyncio.Queue()
        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                sampling = tasks.create_task(self._sample(rows, step, arrivals))
                training = tasks.create_task(self._train(len(rows), arrivals))
        arrived, training_s = training.result()
        self._schedule.check(rollouts_of(_in_order(arrived)))
        started = time.perf_counter()
        with self._reading.trainer_clock:
            stats = await run_on_compute_thread(self._context.trainer.step)
            scored = await self._context.scored_by_trainer([group for _, group in arrived])
        positions = [position for position, _ in arrived]
        groups = _in_order(list(zip(positions, scored, strict=True)))
        values = {
            **(stats if samples_of(groups) else {}),
            names.TIME_SAMPLING: sampling.result(),
            names.TIME_TRAINING: training_s + time.perf_counter() - started,
        }
        return self._reading.sampled_step(step, groups, values=values)

    async def _sample(self, rows: Sequence[DatasetRow], step: int, arrivals: Arrivals) -> float:
        """Queues every group of the step as it finishes; returns the seconds until the last."""
        started = time.perf_counter()
        journal = await self._schedule.journal(step)

        async def sample_group(position: int, row: DatasetRow) -> None:
            group = await self._context.prepared_group(
                row, self._schedule.keys(row, step), policy=self._context.policy, journal=journal
            )
            arrivals.put_nowait((position, group))

        with first_fault():
            async with asyncio.TaskGroup() as tasks:
                for position, row in enumerate(rows):
                    tasks.create_task(sample_group(position, row))
        return time.perf_counter() - started

    async def _train(self, count: int, arrivals: Arrivals) -> tuple[list[Arrival], float]:
        """Accumulates part after part; returns the groups in the order of their training, and the
        seconds.

        The groups of a part are added in the step's order too.
        """
        arrived: list[Arrival] = []
        training_s = 0.0
        parts = min(self._minibatches, count)
        for part in range(parts):
            size = count * (part + 1) // parts - len(arrived)
            minibatch = sorted([await arrivals.get() for _ in range(size)], key=_position)
            arrived += minibatch
            samples = samples_of([group for _, group in minibatch])
            started = time.perf_counter()
            if samples:
                with self._reading.trainer_clock:
                    await run_on_compute_thread(self._context.trainer.accumulate, samples)
            training_s += time.perf_counter() - started
        return arrived, training_s


def _in_order(arrived: Sequence[Arrival]) -> list[PreparedGroup]:
    return [group for _, group in sorted(arrived, key=_position)]


def _position(arrival: Arrival) -> int:
    return arrival[0]
