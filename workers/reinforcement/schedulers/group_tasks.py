"""The groups of the async mode that are in flight: one task each, started, counted, cancelled.

Promises: rollouts are sampled only from versions of committed steps, so that no journalled turn
belongs to a version that a resume would train again; a cancelled group never arrives. Must not know
which group may start or train.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from workers.reinforcement.schedulers.groups import PreparedGroup
from workers.reinforcement.schedulers.mode import PromptSchedule, SchedulerContext
from workers.reinforcement.schedulers.staleness import Dispatch
from workers.rollout.policy import SampledTurn, SamplingParams, VersionedPolicy


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
    """Rollouts that are not finished yet."""
    started: float
    """Monotonic seconds."""


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
        """Set when a group has arrived or failed."""

    @property
    def has_capacity(self) -> bool:
        """Returns whether another group would start at once; a group that only waits for slots
        becomes stale.
        """
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
        """Cancels a group in flight; returns the seconds for which it ran, or `None` if it was not
        in flight.
        """
        group = self._in_flight.pop(dispatch, None)
        if group is None:
            return None
        group.task.cancel()
        self._cancelled.add(group.task)
        group.task.add_done_callback(self._cancelled.discard)
        return time.monotonic() - group.started

    def arrivals(self) -> list[tuple[Dispatch, PreparedGroup, float]]:
        """Returns the groups finished since the last call, with the seconds each took. Raises the
        first fault of a group.
        """
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
        """Returns the last step that may take the group; its journal must be kept until then.

        A group is dispatched under version `step - 1` at the latest, and each further attempt
        within the staleness bound of the one before.
        """
        last = dispatch.step + (dispatch.attempt + 1) * self._max_staleness
        return min(self._schedule.total_steps, last)

    def _on_rollout_finished(self, dispatch: Dispatch) -> None:
        if (group := self._in_flight.get(dispatch)) is not None:
            group.unfinished -= 1
            self._on_capacity()
