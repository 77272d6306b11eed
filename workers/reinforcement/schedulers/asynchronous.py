"""The async mode: sampling never stops for training, within a bound on how old a rollout may be.

Owns the clock around `StalenessQueue` and the tasks of its groups. Promises: back-pressure is
applied at dispatch, never by a blocking put; the queue is committed with the step, and after a kill
all of its groups are in flight again while the journal answers for the work that was already done.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from app.domain.errors import RunFailed
from app.domain.methods.mode import AsyncOptions
from app.domain.rollouts import metrics as names
from workers.compute.compute_thread import run_on_compute_thread
from workers.reinforcement.schedulers.group_tasks import CommittedPolicy, GroupTasks
from workers.reinforcement.schedulers.groups import (
    PreparedGroup,
    rollouts_of,
    samples_of,
    settled_groups,
)
from workers.reinforcement.schedulers.mode import PromptSchedule, SchedulerContext
from workers.reinforcement.schedulers.reading import StepReading
from workers.reinforcement.schedulers.staleness import Dispatch, StalenessQueue
from workers.reinforcement.steps.outcome import SampledStep

STRAGGLER_STEPS: Final = 3.0
"""A straggler group is requeued after this many average step times."""
_MEASURED_STEPS: Final = 8


class AsyncMode:
    def __init__(self, context: SchedulerContext, options: AsyncOptions) -> None:
        self._context = context
        self._options = options
        self._reading = StepReading(context.sampler_clock)
        self._groups: dict[tuple[int, int], tuple[PreparedGroup, float]] = {}
        """Groups that are finished and not trained, with the seconds they lasted, by step of the
        curriculum and row in it."""
        self._cancelled_s: list[float] = []
        """Seconds for which the groups cancelled in this step had run."""
        self._steps_s: deque[float] = deque(maxlen=_MEASURED_STEPS)
        self._requeued = 0
        self._schedule: PromptSchedule
        self._queue: StalenessQueue
        self._policy: CommittedPolicy
        self._tasks: GroupTasks | None = None

    async def start(self, schedule: PromptSchedule) -> None:
        self._schedule = schedule
        self._queue = StalenessQueue(
            schedule.size,
            total_steps=schedule.total_steps,
            max_staleness=self._options.max_staleness,
            max_requeues=self._options.max_requeues,
            within_caps=schedule.within_caps,
        )
        if schedule.scheduler_state is not None:
            self._queue.restore(schedule.scheduler_state)
        elif schedule.committed_step:
            raise RunFailed(
                f"The state saved at step {schedule.committed_step} has no queue of prompts. "
                "Create the job again.",
                code="state_damaged",
            )
        self._policy = CommittedPolicy(self._context.policy, schedule.committed_step)
        self._tasks = GroupTasks(
            self._context,
            schedule,
            self._policy,
            max_staleness=self._options.max_staleness,
            on_capacity=self._dispatch,
        )
        for dispatch in self._queue.in_flight:
            self._tasks.start(dispatch)
        self._dispatch()

    async def step(self, step: int) -> SampledStep:
        started = time.perf_counter()
        self._requeued = 0
        self._cancelled_s = []
        dispatches = await self._take(step)
        taken = [self._groups.pop((dispatch.step, dispatch.row_index)) for dispatch in dispatches]
        groups = [group for group, _ in taken]
        ages = [step - 1 - dispatch.version for dispatch in dispatches]
        scheduler_state = self._queue.state()
        values = self._queue_values(len(groups))
        values[names.GROUP_SECONDS] = fmean(seconds for _, seconds in taken)
        if self._cancelled_s:
            values[names.GIVEN_UP_GROUP_SECONDS] = fmean(self._cancelled_s)
        sampled = time.perf_counter()
        self._schedule.check(rollouts_of(groups))
        groups = settled_groups(groups, self._context.group_config)
        samples = samples_of(groups)
        if samples:
            with self._reading.trainer_clock:
                values |= await run_on_compute_thread(self._context.trainer.update, samples)
                groups = await self._context.scored_by_trainer(groups)
        ended = time.perf_counter()
        values |= {names.TIME_SAMPLING: sampled - started, names.TIME_TRAINING: ended - sampled}
        self._steps_s.append(ended - started)
        return self._reading.sampled_step(
            step, groups, values=values, ages=ages, scheduler_state=scheduler_state
        )

    async def on_step_committed(self, step: int) -> None:
        self._policy.version = step
        self._dispatch()

    async def close(self) -> None:
        if self._tasks is not None:
            await self._tasks.close()

    @property
    def _running(self) -> GroupTasks:
        if self._tasks is None:
            raise RuntimeError("the mode was not started")
        return self._tasks

    def _queue_values(self, taken: int) -> dict[str, float]:
        size = self._schedule.group_size
        return {
            names.STALE_DISCARDED_SHARE: self._requeued / (self._requeued + taken),
            names.QUEUE_DEPTH: float(self._queue.depth * size),
            names.QUEUE_IN_FLIGHT: float(len(self._queue.in_flight) * size),
        }

    def _dispatch(self) -> None:
        """Starts groups until the slots are taken or the staleness queue admits no more."""
        while self._running.has_capacity:
            dispatch = self._queue.dispatch_next(self._policy.version)
            if dispatch is None:
                return
            self._running.start(dispatch)

    async def _take(self, step: int) -> list[Dispatch]:
        """Waits until the queue yields the groups of a step, requeuing stale and slow ones."""
        started = time.perf_counter()
        while True:
            self._receive()
            self._restart(self._queue.expire(step))
            taken = self._queue.take(step)
            if taken is not None:
                return taken
            left = self._straggler_wait_s() - (time.perf_counter() - started)
            if left <= 0 and (stragglers := self._queue.requeue_stragglers(step)):
                self._restart(stragglers)
                continue
            self._running.changed.clear()
            try:
                # After the wait, only the arrival of a group changes what can be done.
                async with asyncio.timeout(left if 0 < left < float("inf") else None):
                    await self._running.changed.wait()
            except TimeoutError:
                continue

    def _straggler_wait_s(self) -> float:
        """Returns how many seconds to wait for a straggler: without limit until a step was
        measured.
        """
        return STRAGGLER_STEPS * fmean(self._steps_s) if self._steps_s else float("inf")

    def _receive(self) -> None:
        """Moves the groups that finished since the last call into the queue."""
        for dispatch, group, seconds in self._running.arrivals():
            rollouts = group.scored.rollouts
            turns = [turn for rollout in rollouts for turn in rollout.trajectory.turns]
            oldest = min((turn.policy_version for turn in turns), default=dispatch.version)
            self._queue.finish(dispatch, version=oldest)
            self._groups[dispatch.step, dispatch.row_index] = group, seconds

    def _restart(self, requeued: Sequence[tuple[Dispatch, Dispatch]]) -> None:
        """Cancels the group of each old dispatch and starts that of the new one."""
        for old, new in requeued:
            lasted_s = self._running.cancel(old)
            finished = self._groups.pop((old.step, old.row_index), None)
            if finished is not None:
                lasted_s = finished[1]
            if lasted_s is not None:
                self._cancelled_s.append(lasted_s)
            self._requeued += 1
            self._running.start(new)
