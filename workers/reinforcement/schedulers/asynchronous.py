"""The async mode: sampling never stops for training, within a bound on how old a rollout may be.

Owns the clock around `StalenessQueue` and who is told what. Promises: back-pressure stands at
dispatch, never in a put; the queue is committed with the step, and after a kill everything in it is
under way again while the journal answers for what was already done.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from statistics import fmean
from typing import Any, Final

from app.domain.errors import RunFailed
from app.domain.methods.mode import AsyncOptions
from app.domain.rollouts import metrics as names
from workers.learning.compute_thread import run_on_compute_thread
from workers.reinforcement.schedulers.group_tasks import CommittedPolicy, GroupTasks
from workers.reinforcement.schedulers.groups import PreparedGroup, step_samples
from workers.reinforcement.schedulers.mode import PromptSchedule, SchedulerContext
from workers.reinforcement.schedulers.reading import StepReading
from workers.reinforcement.schedulers.staleness import StalenessQueue, Ticket
from workers.runs.step_outcome import StepOutcome

STRAGGLER_STEPS: Final = 3.0
"""How many average steps a late group is waited for before it is started over."""
_MEASURED: Final = 8


class AsyncMode:
    def __init__(self, rooms: SchedulerContext, options: AsyncOptions) -> None:
        self._rooms = rooms
        self._options = options
        self._reading = StepReading(rooms.sampler_clock)
        self._groups: dict[tuple[int, int], PreparedGroup] = {}
        """Finished and not trained, by place in the curriculum."""
        self._steps_s: deque[float] = deque(maxlen=_MEASURED)
        self._given_up = 0
        self._feed: PromptSchedule
        self._queue: StalenessQueue
        self._policy: CommittedPolicy
        self._tasks: GroupTasks | None = None

    async def start(
        self, feed: PromptSchedule, *, committed: int, saved: dict[str, Any] | None
    ) -> None:
        self._feed = feed
        self._queue = StalenessQueue(
            lambda step: len(feed.rows(step)),
            total_steps=feed.total_steps,
            max_staleness=self._options.max_staleness,
            max_requeues=self._options.max_requeues,
            within_caps=feed.within_caps,
        )
        if saved is not None:
            self._queue.restore(saved)
        elif committed:
            raise RunFailed(
                f"The state saved at step {committed} has no queue of prompts.",
                code="state_damaged",
            )
        self._policy = CommittedPolicy(self._rooms.policy, committed)
        self._tasks = GroupTasks(
            self._rooms,
            feed,
            self._policy,
            bound=self._options.max_staleness,
            moved=self._admit,
        )
        for ticket in self._queue.in_flight:
            self._tasks.start(ticket)
        self._admit()

    async def step(self, step: int) -> StepOutcome:
        started = time.perf_counter()
        self._given_up = 0
        tickets = await self._take(step)
        groups = [self._groups.pop((ticket.step, ticket.place)) for ticket in tickets]
        ages = [step - 1 - ticket.version for ticket in tickets]
        outcome = self._reading.outcome(step, groups, ages=ages)
        outcome.scheduler_state = self._queue.state()
        outcome.train_values.update(self._depths(len(groups)))
        begun = time.perf_counter()
        outcome.train_values[names.TIME_SAMPLING] = begun - started
        self._feed.check(outcome.train_rollouts)
        samples = step_samples(groups, self._rooms.recipe)
        if samples:
            with self._reading.trainer_clock:
                stats = await run_on_compute_thread(self._rooms.trainer.update, samples)
            outcome.train_values.update(stats)
        ended = time.perf_counter()
        outcome.train_values[names.TIME_TRAINING] = ended - begun
        self._steps_s.append(ended - started)
        self._reading.finish(outcome)
        return outcome

    async def committed(self, step: int) -> None:
        self._policy.version = step
        self._admit()

    async def close(self) -> None:
        if self._tasks is not None:
            await self._tasks.close()

    @property
    def _running(self) -> GroupTasks:
        if self._tasks is None:
            raise RuntimeError("the mode was not started")
        return self._tasks

    def _depths(self, taken: int) -> dict[str, float]:
        size = self._feed.group_size
        return {
            names.STALE_DISCARDED_SHARE: self._given_up / (self._given_up + taken),
            names.QUEUE_DEPTH: float(self._queue.depth * size),
            names.QUEUE_IN_FLIGHT: float(len(self._queue.in_flight) * size),
        }

    def _admit(self) -> None:
        while self._running.has_capacity:
            ticket = self._queue.admit(self._policy.version)
            if ticket is None:
                return
            self._running.start(ticket)

    async def _take(self, step: int) -> list[Ticket]:
        started = time.perf_counter()
        while True:
            self._receive()
            self._start_over(self._queue.expire(step))
            taken = self._queue.take(step)
            if taken is not None:
                return taken
            left = self._patience() - (time.perf_counter() - started)
            if left <= 0 and (late := self._queue.requeue_stragglers(step)):
                self._start_over(late)
                continue
            self._running.news.clear()
            try:
                # Past its patience, only a group that arrives changes what can be done.
                async with asyncio.timeout(left if 0 < left < float("inf") else None):
                    await self._running.news.wait()
            except TimeoutError:
                continue

    def _patience(self) -> float:
        """Seconds; without end until a step was measured."""
        return STRAGGLER_STEPS * fmean(self._steps_s) if self._steps_s else float("inf")

    def _receive(self) -> None:
        for ticket, group in self._running.arrivals():
            turns = [turn for one in group.rollouts for turn in one.trajectory.turns]
            oldest = min((turn.policy_version for turn in turns), default=ticket.version)
            self._queue.finish(ticket, version=oldest)
            self._groups[ticket.step, ticket.place] = group

    def _start_over(self, pairs: Sequence[tuple[Ticket, Ticket]]) -> None:
        for late, fresh in pairs:
            self._running.drop(late)
            self._groups.pop((late.step, late.place), None)
            self._given_up += 1
            self._running.start(fresh)
