"""The async mode: sampling never stops for training, within a bound on how old a rollout may be."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final

from typing_extensions import override

from app.jobs.learning import AsyncOptions
from app.kit.errors import RunFailed
from app.rollouts import metrics as names
from workers.methods.reinforcement.step_summary import SampledStep
from workers.methods.schedulers.mode import Mode, PreparedGroup, PromptSchedule, SchedulerContext
from workers.rollout.environment import SampledTurn, SamplingParams, VersionedPolicy


@dataclass(frozen=True, slots=True, order=True)
class Dispatch:
    version: int
    step: int
    row_index: int
    attempt: int = 0


class StalenessQueue:
    def __init__(
        self,
        size: Callable[[int], int],
        *,
        total_steps: int,
        max_staleness: int,
        max_requeues: int,
        within_caps: Callable[[int], bool] = lambda _step: True,
    ) -> None:
        self._size = size
        self._last_step = total_steps
        self._max_staleness = max_staleness
        self._max_requeues = max_requeues
        self._within_caps = within_caps
        self._in_flight: set[Dispatch] = set()
        self._finished: set[Dispatch] = set()
        self._cursor = (1, 0)

    @property
    def in_flight(self) -> list[Dispatch]:
        return sorted(self._in_flight)

    @property
    def depth(self) -> int:
        return len(self._finished)

    def dispatch_next(self, version: int) -> Dispatch | None:
        """Returns the next prompt's dispatch, or `None` when the capacity rule admits none."""
        step, row_index = self._cursor
        if step > min(self._last_step, self._last_use(version)) or not self._within_caps(step):
            return None
        last_row = row_index + 1 == self._size(step)
        self._cursor = (step + 1, 0) if last_row else (step, row_index + 1)
        dispatch = Dispatch(version, step, row_index)
        self._in_flight.add(dispatch)
        return dispatch

    def finish(self, dispatch: Dispatch, *, version: int) -> None:
        """`version`: the oldest that sampled a token; it may be older than the dispatch."""
        self._in_flight.remove(dispatch)
        self._finished.add(replace(dispatch, version=min(version, dispatch.version)))

    def expire(self, step: int) -> list[tuple[Dispatch, Dispatch]]:
        """Requeues each group that is too old for `step`. Returns pairs of old and new dispatch."""
        stale = [
            dispatch
            for dispatch in self._finished | self._in_flight
            if step - 1 - dispatch.version > self._max_staleness
        ]
        return [(dispatch, self._requeue(dispatch, step)) for dispatch in sorted(stale)]

    def take(self, step: int) -> list[Dispatch] | None:
        """Returns the groups that `step` trains, oldest first; `None` while it must wait."""
        chosen = sorted(self._finished)[: self._size(step)]
        remaining = (self._finished | self._in_flight).difference(chosen)
        if len(chosen) < self._size(step) or self._must_wait(step, chosen, remaining):
            return None
        self._finished.difference_update(chosen)
        return chosen

    def requeue_stragglers(self, step: int) -> list[tuple[Dispatch, Dispatch]]:
        """Requeues as few of the oldest groups in flight as let `step` proceed; none where that
        does not help. Returns pairs of old and new dispatch.
        """
        chosen = sorted(self._finished)[: self._size(step)]
        if len(chosen) < self._size(step):
            return []
        remaining = (self._finished | self._in_flight).difference(chosen)
        stragglers: list[Dispatch] = []
        for dispatch in self.in_flight:
            if not self._must_wait(step, chosen, remaining):
                break
            if dispatch.attempt < self._max_requeues:
                stragglers.append(dispatch)
                remaining = remaining - {dispatch} | {replace(dispatch, version=step - 1)}
        if self._must_wait(step, chosen, remaining):
            return []
        return [(dispatch, self._requeue(dispatch, step)) for dispatch in stragglers]

    def state(self) -> dict[str, Any]:
        """Returns as JSON the cursor and every dispatch that is not taken."""
        dispatches = sorted(self._finished | self._in_flight)
        return {
            "cursor": list(self._cursor),
            # The name in resume points that earlier versions stored.
            "tickets": [[t.version, t.step, t.row_index, t.attempt] for t in dispatches],
        }

    def restore(self, state: dict[str, Any]) -> None:
        step, row_index = state["cursor"]
        self._cursor = (int(step), int(row_index))
        self._in_flight = {Dispatch(*map(int, saved)) for saved in state["tickets"]}
        self._finished = set()

    def _requeue(self, dispatch: Dispatch, step: int) -> Dispatch:
        new = replace(dispatch, version=step - 1, attempt=dispatch.attempt + 1)
        self._finished.discard(dispatch)
        self._in_flight.discard(dispatch)
        self._in_flight.add(new)
        return new

    def _must_wait(
        self, step: int, chosen: Iterable[Dispatch], remaining: Iterable[Dispatch]
    ) -> bool:
        """Returns whether taking `chosen` now makes an older remaining group miss its last step.
        For each later step, no more groups may be due by then than the steps up to it take.
        """
        newest = max(map(self._due, chosen))
        due = [self._due(dispatch) for dispatch in remaining]
        capacity = 0
        for later in range(step, newest):
            capacity += self._size(later) if later > step else 0
            if sum(last <= later for last in due) > capacity:
                return True
        return False

    def _due(self, dispatch: Dispatch) -> int:
        """Returns the last step of the run that may take a group."""
        return min(self._last_step, self._last_use(dispatch.version))

    def _last_use(self, version: int) -> int:
        return version + self._max_staleness + 1


class CommittedPolicy:
    """Samples each turn from the version of the last committed step."""

    def __init__(self, policy: VersionedPolicy, version: int) -> None:
        self._policy = policy
        self.version = version

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        return await self._policy.sample_at(self.version, prompt_token_ids, params)


@dataclass(slots=True)
class _RunningGroup:
    task: asyncio.Task[PreparedGroup]
    unfinished: int
    started: float


class GroupTasks:
    def __init__(
        self,
        context: SchedulerContext,
        schedule: PromptSchedule,
        policy: CommittedPolicy,
        *,
        max_staleness: int,
        on_capacity: Callable[[], None],
    ) -> None:
        """`on_capacity` is called whenever a rollout has finished."""
        self._context = context
        self._schedule = schedule
        self._policy = policy
        self._max_staleness = max_staleness
        self._on_capacity = on_capacity
        self._in_flight: dict[Dispatch, _RunningGroup] = {}
        self._cancelled: set[asyncio.Task[PreparedGroup]] = set()
        self._arrived: list[tuple[Dispatch, PreparedGroup, float]] = []
        self._fault: BaseException | None = None
        self.changed = asyncio.Event()

    @property
    def has_capacity(self) -> bool:
        """A group that would only wait for slots becomes stale."""
        unfinished = sum(group.unfinished for group in self._in_flight.values())
        limit = self._context.setup.slots.limit
        return not self._in_flight or unfinished + self._schedule.group_size <= limit

    def start(self, dispatch: Dispatch) -> None:
        task = asyncio.create_task(self._run(dispatch))
        self._in_flight[dispatch] = _RunningGroup(
            task, self._schedule.group_size, started=time.monotonic()
        )
        task.add_done_callback(lambda done: self._on_done(dispatch, done))

    def cancel(self, dispatch: Dispatch) -> float | None:
        """Returns the seconds for which the group ran, `None` if it was not in flight."""
        group = self._in_flight.pop(dispatch, None)
        if group is None:
            return None
        group.task.cancel()
        self._cancelled.add(group.task)
        group.task.add_done_callback(self._cancelled.discard)
        return time.monotonic() - group.started

    def arrivals(self) -> list[tuple[Dispatch, PreparedGroup, float]]:
        """Groups finished since the last call, with their seconds. Raises the first fault."""
        if self._fault is not None:
            raise self._fault
        arrived, self._arrived = self._arrived, []
        return arrived

    async def close(self) -> None:
        tasks = [*self._cancelled, *(group.task for group in self._in_flight.values())]
        self._in_flight.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_done(self, dispatch: Dispatch, task: asyncio.Task[PreparedGroup]) -> None:
        group = self._in_flight.get(dispatch)
        if group is None or group.task is not task:
            return
        del self._in_flight[dispatch]
        if task.cancelled():
            return
        fault = task.exception()
        if fault is None:
            self._arrived.append((dispatch, task.result(), time.monotonic() - group.started))
        else:
            self._fault = self._fault or fault
        self.changed.set()
        self._on_capacity()

    async def _run(self, dispatch: Dispatch) -> PreparedGroup:
        schedule = self._schedule
        row = schedule.rows(dispatch.step)[dispatch.row_index]
        return await self._context.prepared_group(
            row,
            schedule.keys(row, dispatch.step, dispatch.attempt),
            policy=self._policy,
            journal=await schedule.journal(self._journal_step(dispatch)),
            on_finished=lambda: self._on_rollout_finished(dispatch),
        )

    def _journal_step(self, dispatch: Dispatch) -> int:
        """The last step that may take the group. It is dispatched under version `step - 1` at the
        latest, and each further attempt within the staleness bound of the one before.
        """
        last = dispatch.step + (dispatch.attempt + 1) * self._max_staleness
        return min(self._schedule.total_steps, last)

    def _on_rollout_finished(self, dispatch: Dispatch) -> None:
        if (group := self._in_flight.get(dispatch)) is not None:
            group.unfinished -= 1
            self._on_capacity()


STRAGGLER_STEPS: Final = 3.0
"""A straggler group is requeued after this many average step times."""
_MEASURED_STEPS: Final = 8


class AsyncMode(Mode):
    def __init__(self, context: SchedulerContext, options: AsyncOptions) -> None:
        super().__init__(context)
        self._options = options
        self._groups: dict[tuple[int, int], tuple[PreparedGroup, float]] = {}
        """Groups that are finished and not trained, with the seconds they lasted, by step of the
        curriculum and row in it."""
        self._cancelled_s: list[float] = []
        self._steps_s: deque[float] = deque(maxlen=_MEASURED_STEPS)
        self._requeued = 0
        self._queue: StalenessQueue
        self._policy: CommittedPolicy
        self._tasks: GroupTasks | None = None

    @override
    async def start(self, schedule: PromptSchedule) -> None:
        await super().start(schedule)
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

    @override
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
        groups, stats = await self._trained(groups)
        values |= {**stats, names.TIME_SAMPLING: sampled - started}
        self._steps_s.append(time.perf_counter() - started)
        return self._sampled_step(
            step, groups, values=values, ages=ages, scheduler_state=scheduler_state
        )

    @override
    async def on_step_committed(self, step: int) -> None:
        self._policy.version = step
        self._dispatch()

    @override
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
        while self._running.has_capacity:
            dispatch = self._queue.dispatch_next(self._policy.version)
            if dispatch is None:
                return
            self._running.start(dispatch)

    async def _take(self, step: int) -> list[Dispatch]:
        started = time.perf_counter()
        while True:
            self._receive()
            self._restart(self._queue.expire(step))
            taken = self._queue.take(step)
            if taken is not None:
                return taken
            left = (STRAGGLER_STEPS * fmean(self._steps_s) if self._steps_s else float("inf")) - (
                time.perf_counter() - started
            )
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

    def _receive(self) -> None:
        for dispatch, group, seconds in self._running.arrivals():
            rollouts = group.scored.rollouts
            turns = [turn for rollout in rollouts for turn in rollout.trajectory.turns]
            oldest = min((turn.policy_version for turn in turns), default=dispatch.version)
            self._queue.finish(dispatch, version=oldest)
            self._groups[dispatch.step, dispatch.row_index] = group, seconds

    def _restart(self, requeued: Sequence[tuple[Dispatch, Dispatch]]) -> None:
        for old, new in requeued:
            lasted_s = self._running.cancel(old)
            finished = self._groups.pop((old.step, old.row_index), None)
            if finished is not None:
                lasted_s = finished[1]
            if lasted_s is not None:
                self._cancelled_s.append(lasted_s)
            self._requeued += 1
            self._running.start(new)
