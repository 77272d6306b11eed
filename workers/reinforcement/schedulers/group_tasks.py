"""The groups of the async mode that are under way: one task each, started, counted, dropped.

Promises: rollouts are sampled only from versions of committed steps, so that nothing that is
remembered of them is of a version a resume would make anew; a dropped group is never heard of
again. Must not know which group may start or train.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.domain.data.dataset import DatasetRow
from app.domain.ids import SampleKey
from app.domain.rollouts.trajectory import ScoredRollout
from workers.journal.journal import Journal
from workers.reinforcement.schedulers.groups import PreparedGroup, prepare
from workers.reinforcement.schedulers.mode import PromptSchedule, SchedulerContext
from workers.reinforcement.schedulers.staleness import Ticket
from workers.rollout.policy import SampledTurn, SamplingParams, VersionedPolicy
from workers.rollout.runner import run_rollouts


class CommittedPolicy:
    """Samples each turn from the version of the last committed step."""

    def __init__(self, policy: VersionedPolicy, version: int) -> None:
        self._policy = policy
        self.version = version

    async def sample(self, prompt_token_ids: list[int], params: SamplingParams) -> SampledTurn:
        return await self._policy.sample_at(self.version, prompt_token_ids, params)


@dataclass(slots=True)
class _Running:
    task: asyncio.Task[PreparedGroup]
    rollouts: int
    """Not finished yet."""


class GroupTasks:
    def __init__(
        self,
        rooms: SchedulerContext,
        feed: PromptSchedule,
        policy: CommittedPolicy,
        *,
        bound: int,
        moved: Callable[[], None],
    ) -> None:
        """`moved` is called whenever a rollout has ended, be it one of many of its group."""
        self._rooms = rooms
        self._feed = feed
        self._policy = policy
        self._bound = bound
        self._moved = moved
        self._running: dict[Ticket, _Running] = {}
        self._dropped: set[asyncio.Task[PreparedGroup]] = set()
        self._arrived: list[tuple[Ticket, PreparedGroup]] = []
        self._fault: BaseException | None = None
        self._places = asyncio.Semaphore(rooms.room.max_concurrent)
        self.news = asyncio.Event()

    @property
    def has_capacity(self) -> bool:
        """Whether a further group would start at once. What waited for room would only age."""
        rollouts = sum(running.rollouts for running in self._running.values())
        most = self._rooms.room.max_concurrent
        return not self._running or rollouts + self._feed.group_size <= most

    def start(self, ticket: Ticket) -> None:
        task = asyncio.create_task(self._group(ticket))
        self._running[ticket] = _Running(task, self._feed.group_size)
        task.add_done_callback(lambda done: self._done(ticket, done))

    def drop(self, ticket: Ticket) -> None:
        running = self._running.pop(ticket, None)
        if running is not None:
            running.task.cancel()
            self._dropped.add(running.task)
            running.task.add_done_callback(self._dropped.discard)

    def arrivals(self) -> list[tuple[Ticket, PreparedGroup]]:
        """Groups finished since the last call. Raises what a rollout of ours failed with."""
        if self._fault is not None:
            raise self._fault
        arrived, self._arrived = self._arrived, []
        return arrived

    async def close(self) -> None:
        tasks = [*self._dropped, *(running.task for running in self._running.values())]
        self._running.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, ticket: Ticket, task: asyncio.Task[PreparedGroup]) -> None:
        running = self._running.get(ticket)
        if running is None or running.task is not task:
            return
        del self._running[ticket]
        if task.cancelled():
            return
        fault = task.exception()
        if fault is None:
            self._arrived.append((ticket, task.result()))
        else:
            self._fault = self._fault or fault
        self.news.set()
        self._moved()

    async def _group(self, ticket: Ticket) -> PreparedGroup:
        feed = self._feed
        # It is taken by then: its dispatch is under `step - 1` at the latest, and so is each
        # further attempt within the bound of the one before.
        kept_to = min(feed.total_steps, ticket.step + (ticket.attempt + 1) * self._bound)
        journal = await feed.journal(kept_to)
        row = feed.rows(ticket.step)[ticket.place]
        try:
            async with asyncio.TaskGroup() as tasks:
                rollouts = [
                    tasks.create_task(self._rollout(ticket, wanted, journal))
                    for wanted in feed.keys(row, ticket.step, ticket.attempt)
                ]
        except BaseExceptionGroup as faults:
            # One cause is enough for the run to decide on; the others were cancelled by it.
            raise faults.exceptions[0] from faults
        return prepare([task.result() for task in rollouts], self._rooms.recipe)

    async def _rollout(
        self, ticket: Ticket, wanted: tuple[DatasetRow, SampleKey], journal: Journal
    ) -> ScoredRollout:
        (rollout,) = await run_rollouts(
            self._rooms.room, [wanted], policy=self._policy, journal=journal, places=self._places
        )
        if (running := self._running.get(ticket)) is not None:
            running.rollouts -= 1
            self._moved()
        return rollout
