"""Writes trackers: `python -m workers.trackers.child`. A library's fault ends its process alone."""

import asyncio
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Collection, Coroutine, Iterator, KeysView, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import structlog

from app.database import Database
from app.events.reader_store import ENDED, event_reader
from app.events.store import CommittedEvent
from app.jobs.claims import job_reader
from app.jobs.integrations import LIBRARIES
from app.kit.errors import NotFound, Unavailable
from app.settings import Settings
from app.webhooks.events import EVENT_TYPES
from workers.processes.child import run_as_child, run_until_terminated
from workers.processes.clients import POOL_SIZE, open_database
from workers.processes.event_follower import LEASE_S, ExternalConsumer, Follower
from workers.trackers.tracker import Tracker, TrackerFault, WriteReport
from workers.trackers.tracker_factory import open_tracker
from workers.trackers.update_reader import (
    Key,
    TrackedIntegration,
    announced_by,
    read_update,
    tracked_integrations,
)

log = structlog.get_logger()

TYPES: Final = frozenset({"job.message", "job.metrics", *EVENT_TYPES})
_WRITES: Final = 8
_WRITES_OF_ONE: Final = 4
"""Fewer than all, so that a project whose trackers hang delays no other."""
_MOST_OPEN: Final = 16
"""Trackers that stay open between writes; each may be a process."""
_MOST_OPEN_OF_ONE: Final = 8
_FIRST_DELAY_S: Final = 10.0
_LONGEST_DELAY_S: Final = 600.0
_TO_WRITE_S: Final = 40.0
"""Below that of a batch of events: a library that hangs is a fault of its tracker."""


@dataclass(slots=True)
class _RetryPause:
    until: float
    delay_s: float


class TrackerSync:
    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._open = TrackerPool(_MOST_OPEN, for_one=_MOST_OPEN_OF_ONE)
        self._slots = FairSlots(_WRITES, for_one=_WRITES_OF_ONE)
        self._tasks = dict[Key, asyncio.Task[None]]()
        self._resting = dict[Key, _RetryPause]()
        self._noted = set[Key]()

    async def start(self) -> bool:
        """For each that is due. Returns whether a job is followed. Raises `Unavailable`."""
        followed = await tracked_integrations(self._database)
        keys = {tracked.key for tracked in followed}
        for gone in self._open.keys() - keys:
            self._run(gone, self._close(gone))
        self._resting = {key: rest for key, rest in self._resting.items() if key in keys}
        self._noted &= keys
        for tracked in followed:
            if self._is_due(tracked):
                self._run(tracked.key, self._in_slot(tracked))
        return bool(followed)

    async def settle(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def follow(self) -> bool:
        """Up to the call. Returns whether a job is followed. Raises `Unavailable`."""
        followed = await self.start()
        await self.settle()
        return followed

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await self.settle()
        await asyncio.gather(*(self._close(key) for key in list(self._open.keys())))

    def _run(self, key: Key, work: Coroutine[Any, Any, None]) -> None:
        if key in self._tasks:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key))

    async def _in_slot(self, tracked: TrackedIntegration) -> None:
        async with self._slots.of(tracked.job.project_id):
            try:
                await self._write(tracked)
            except Unavailable as error:
                log.warning("tracker not written, database unavailable", error=str(error))
            except Exception:  # the boundary of one tracker: it is tried again
                log.exception("tracker not written", consumer=tracked.consumer)

    def _is_due(self, tracked: TrackedIntegration) -> bool:
        rest = self._resting.get(tracked.key)
        return rest is None or rest.until <= time.monotonic()

    async def _write(self, tracked: TrackedIntegration) -> None:
        last = self._resting.pop(tracked.key, None)
        await Follower(self._database, [self._consumer(tracked)]).catch_up()
        rest = self._resting.get(tracked.key)
        if rest is None and tracked.job.has_ended:
            await self._end(tracked)
        elif rest is not None and last is not None:
            rest.delay_s = min(2 * last.delay_s, _LONGEST_DELAY_S)
            rest.until = time.monotonic() + rest.delay_s

    async def _end(self, tracked: TrackedIntegration) -> None:
        """Moves the cursor of an ended job past all events, if none is left to write."""
        consumer, scope = tracked.key
        async with event_reader(self._database) as unit:
            claimed = await unit.cursors.claim(consumer, scope, lease_s=LEASE_S)
            if claimed is None:
                return
            left = await unit.log.read_after(claimed.position, scope=scope, types=TYPES, limit=1)
            await unit.cursors.advance(claimed, claimed.position if left.events else ENDED)
        await self._close(tracked.key)

    def _consumer(self, tracked: TrackedIntegration) -> ExternalConsumer:
        async def send(events: Sequence[CommittedEvent]) -> None:
            announced = announced_by(events)
            if announced is None:
                return
            async with self._faults_noted(tracked), asyncio.timeout(_TO_WRITE_S):
                tracker = await self._tracker(tracked)
                update = await read_update(
                    self._database, tracked, announced, everything=tracker.wants_all
                )
                written = await tracker.write(update)
                await self._note_written(tracked, written)

        return ExternalConsumer(tracked.consumer, send, types=TYPES, scope=tracked.job.id)

    async def _tracker(self, tracked: TrackedIntegration) -> Tracker:
        tracker = self._open.use(tracked.key)
        if tracker is None:
            tracker = await open_tracker(self._database, self._settings, tracked)
            self._open.add(tracked, tracker)
            for key in self._open.surplus(busy=self._tasks):
                self._run(key, self._close(key))
        return tracker

    @asynccontextmanager
    async def _faults_noted(self, tracked: TrackedIntegration) -> AsyncIterator[None]:
        try:
            yield
        except (Unavailable, NotFound):  # no database, or the job was deleted
            raise
        except asyncio.CancelledError:  # it may still write: the next try opens it anew
            await self._close(tracked.key, at_once=True)
            raise
        except Exception as error:
            until = time.monotonic() + _FIRST_DELAY_S
            self._resting[tracked.key] = _RetryPause(until, _FIRST_DELAY_S)
            await self._close(tracked.key, at_once=True)
            await self._note_fault(tracked, error)
            raise

    async def _note_written(self, tracked: TrackedIntegration, written: WriteReport) -> None:
        if tracked.key in self._noted:
            return
        title = LIBRARIES[tracked.kind].title
        async with job_reader(self._database, tracked.job.project_id) as unit:
            if written.url is not None and written.url.startswith(("https://", "http://")):
                await unit.events.append_once(
                    tracked.job.id,
                    level="info",
                    message=f"{title} shows the job at {written.url}",
                    about=f"{tracked.consumer}:link",
                    data={"url": written.url, "tracker": title},
                )
            for note in written.notes:
                await unit.events.append_once(
                    tracked.job.id,
                    level="warn",
                    message=f"{note}.",
                    about=f"{tracked.consumer}:note",
                )
        self._noted.add(tracked.key)

    async def _note_fault(self, tracked: TrackedIntegration, error: Exception) -> None:
        title = LIBRARIES[tracked.kind].title
        reason = _reason(error)
        async with job_reader(self._database, tracked.job.project_id) as unit:
            await unit.events.append_once(
                tracked.job.id,
                level="warn",
                message=f"{title} cannot be written: {reason}. The job continues without it, and "
                "the service tries again until a day after the job's end.",
                about=tracked.consumer,
            )

    async def _close(self, key: Key, *, at_once: bool = False) -> None:
        tracker = self._open.remove(key)
        if tracker is None:
            return
        try:
            await (tracker.abandon() if at_once else tracker.close())
        except Exception:  # it may have failed before; it is opened anew
            log.exception("tracker not closed", consumer=key[0], job_id=key[1])


def _reason(error: Exception) -> str:
    """Returns the fault for the job's owner, without a path of the installation."""
    match error:
        case TrackerFault():
            return str(error)
        case TimeoutError():
            return f"it did not answer within {_TO_WRITE_S:g} s"
        case OSError(strerror=str(text)):
            return text
        case _:
            return type(error).__name__


class FairSlots:
    def __init__(self, total: int, *, for_one: int) -> None:
        self._total = total
        self._for_one = for_one
        self._used = Counter[str]()
        self._waiting = deque[tuple[str, asyncio.Future[None]]]()

    @asynccontextmanager
    async def of(self, project_id: str) -> AsyncIterator[None]:
        """Holds a slot of a project, as soon as one is free for it."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((project_id, granted))
        self._grant()
        try:
            await granted
            yield
        finally:
            if granted.done() and not granted.cancelled():
                self._used[project_id] -= 1
            else:
                self._waiting.remove((project_id, granted))
            self._grant()

    def _grant(self) -> None:
        while self._used.total() < self._total and (first := self._next()) is not None:
            project_id, granted = first
            self._waiting.remove(first)
            self._used[project_id] += 1
            granted.set_result(None)

    def _next(self) -> tuple[str, asyncio.Future[None]] | None:
        fitting = [one for one in self._waiting if self._may_have(*one)]
        return min(fitting, key=lambda one: self._used[one[0]], default=None)

    def _may_have(self, project_id: str, granted: asyncio.Future[None]) -> bool:
        return not granted.done() and self._used[project_id] < self._for_one


@dataclass(frozen=True, slots=True)
class _PooledTracker:
    project_id: str
    tracker: Tracker


class TrackerPool:
    def __init__(self, most: int, *, for_one: int) -> None:
        self._most = most
        self._for_one = for_one
        self._open = dict[Key, _PooledTracker]()

    def __iter__(self) -> Iterator[Tracker]:
        return (one.tracker for one in self._open.values())

    def keys(self) -> KeysView[Key]:
        return self._open.keys()

    def add(self, tracked: TrackedIntegration, tracker: Tracker) -> None:
        self._open[tracked.key] = _PooledTracker(tracked.job.project_id, tracker)

    def use(self, key: Key) -> Tracker | None:
        """Returns an open tracker, which counts as the last one used."""
        found = self._open.pop(key, None)
        if found is None:
            return None
        self._open[key] = found
        return found.tracker

    def remove(self, key: Key) -> Tracker | None:
        found = self._open.pop(key, None)
        return None if found is None else found.tracker

    def surplus(self, *, busy: Collection[Key]) -> list[Key]:
        """Returns those above the limits that are not written now, the first to be closed first."""
        counts = Counter(one.project_id for one in self._open.values())
        idle = [(key, one.project_id) for key, one in self._open.items() if key not in busy]
        found = list[Key]()
        while idle:
            key, project_id = first = max(idle, key=lambda one: counts[one[1]])
            if counts.total() <= self._most and counts[project_id] <= self._for_one:
                break
            idle.remove(first)
            counts[project_id] -= 1
            found.append(key)
        return found


POLL_S: Final = 2.0


async def _follow(trackers: TrackerSync) -> None:
    following = True
    try:
        while following:
            try:
                following = await trackers.start()
            except Unavailable as error:
                log.warning("trackers not written, database unavailable", error=str(error))
            if following:
                await asyncio.sleep(POLL_S)
        await trackers.settle()
    finally:
        await trackers.close()


async def _run(settings: Settings) -> int:
    async with open_database(settings, pool_size=POOL_SIZE) as database:
        following = _follow(TrackerSync(database, settings))
        return await run_until_terminated(following, what="trackers")


if __name__ == "__main__":
    sys.exit(run_as_child(_run))
