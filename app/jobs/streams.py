"""Live streams of jobs: all committed events after a position, then new ones. One task polls for
all jobs that a process streams, in one short transaction for each project.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, assert_never

import structlog
from fastapi import Request
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from app.database import Database
from app.jobs.jobs import (
    LAST_EVENT_ID,
    TERMINAL,
    IdleHeartbeat,
    Job,
    JobHead,
    StreamedEvent,
    StreamItem,
    step_of,
)
from app.kit.callers import Tenant
from app.kit.errors import AuthenticationFailed, NotFound, Unavailable
from app.kit.http import END_STREAM
from app.rollouts.metrics import MetricPoint

log = structlog.get_logger()
_POLL_S: Final = 0.5
_BATCH: Final = 50


class _JobNotification:
    def __init__(self, tenant: Tenant, job_id: str) -> None:
        self.tenant = tenant
        self.job_id = job_id
        self.head: JobHead | None = None
        self.arrived = asyncio.Event()

    def show(self, head: JobHead | None) -> None:
        if head != self.head:
            self.head = head
            self.arrived.set()


class JobWatch:
    """Polls for changes of the jobs that this process streams, while there are any."""

    def __init__(self, database: Database, *, heartbeat_s: float) -> None:
        self.database = database
        self.heartbeat_s = heartbeat_s
        self._watched: set[_JobNotification] = set()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watching(self, tenant: Tenant, job_id: str) -> Iterator[_JobNotification]:
        notification = _JobNotification(tenant, job_id)
        self._watched.add(notification)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._poll())
        try:
            yield notification
        finally:
            self._watched.discard(notification)

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _poll(self) -> None:
        while self._watched:
            projects: dict[str, list[_JobNotification]] = {}
            for notification in self._watched:
                projects.setdefault(notification.tenant.project_id, []).append(notification)
            for watched in projects.values():
                await self._poll_project(watched)
            await asyncio.sleep(_POLL_S)

    async def _poll_project(self, watched: list[_JobNotification]) -> None:
        try:
            async with self.database.tenant(watched[0].tenant) as unit:
                heads = await unit.streams.heads(
                    sorted({notification.job_id for notification in watched})
                )
        except Unavailable as error:  # the next look may succeed
            log.warning("no look at streamed jobs", error=str(error))
            return
        except Exception:  # the task serves all projects: one project's fault ends no other stream
            log.exception("look at streamed jobs failed")
            return
        for notification in watched:
            notification.show(heads.get(notification.job_id))


class JobStream:
    """One client's stream. `end` ends it soon and loses nothing: the client can continue later."""

    def __init__(
        self, watch: JobWatch, tenant: Tenant, job_id: str, *, behind: int, with_points: bool
    ) -> None:
        self._watch = watch
        self._tenant = tenant
        self._job_id = job_id
        self._behind = behind
        self._with_points = with_points
        self._news: _JobNotification | None = None
        self._is_ended = False

    def end(self) -> None:
        self._is_ended = True
        if self._news is not None:
            self._news.arrived.set()

    async def items(self, check: Callable[[], Awaitable[object]]) -> AsyncIterator[StreamItem]:
        """Yields events, and the job whenever its state has changed, until it has ended. `check`
        is called at every heartbeat and raises `AuthenticationFailed` for lost access.
        """
        shown: JobHead | None = None
        now = asyncio.get_running_loop().time
        checked = now()
        with self._watch.watching(self._tenant, self._job_id) as self._news:
            while not self._is_ended:
                self._news.arrived.clear()
                try:
                    if now() >= checked + self._watch.heartbeat_s:
                        await check()
                        checked = now()
                    job, events = await self._read()
                    for streamed in events:
                        self._behind = streamed.position
                        yield streamed
                    if len(events) == _BATCH:
                        continue
                    if _head(job) != shown:
                        shown = _head(job)
                        yield job
                    if job.status in TERMINAL:
                        return
                    while not await self._arrived(self._news):
                        yield IdleHeartbeat()
                        await check()
                        checked = now()
                except (NotFound, AuthenticationFailed):
                    return
                except Unavailable:  # the client keeps its stream; the read is tried again
                    yield IdleHeartbeat()
                    await asyncio.sleep(_POLL_S)

    async def _arrived(self, notification: _JobNotification) -> bool:
        try:
            await asyncio.wait_for(notification.arrived.wait(), self._watch.heartbeat_s)
        except TimeoutError:
            return False
        return True

    async def _read(self) -> tuple[Job, list[StreamedEvent]]:
        """Reads the job first, so that an ended job's events are all visible."""
        async with self._watch.database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(self._job_id)
            events = await unit.streams.events(self._job_id, behind=self._behind, limit=_BATCH)
            steps = {step for _, event in events if (step := step_of(event)) is not None}
            points: list[MetricPoint] = []
            if steps and self._with_points:
                points = await unit.streams.points(self._job_id, sorted(steps))
        return job, [
            StreamedEvent(position, event, [one for one in points if one.step == step_of(event)])
            for position, event in events
        ]


def _head(job: Job) -> JobHead:
    return JobHead(job.status, job.step, job.estimated_finish, newest=0)


class StreamService:
    def __init__(self, watch: JobWatch, tenant: Tenant) -> None:
        self._watch = watch
        self._tenant = tenant

    async def open(
        self,
        job_id: str,
        *,
        after: str | None,
        last_event_id: str | None = None,
        with_points: bool = True,
    ) -> JobStream | None:
        """Streams the events after `last_event_id` (of a header), or else after `after`. Returns
        `None` if the job has ended and no event is left. Raises `NotFound` for the job,
        `InvalidRequest` for the event.
        """
        async with self._watch.database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(job_id)
            behind = 0
            if event_id := last_event_id or after:
                sent_as = LAST_EVENT_ID if last_event_id else "after"
                behind = await unit.streams.position(job_id, event_id, sent_as=sent_as)
            following = await unit.streams.events(job_id, behind=behind, limit=1)
        if job.status in TERMINAL and not following:
            return None
        return JobStream(self._watch, self._tenant, job_id, behind=behind, with_points=with_points)


_RETRY_MS: Final = 2000
_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}


def event_stream(
    request: Request,
    items: AsyncIterator[StreamItem],
    *,
    end: Callable[[], None],
    of_event: Callable[[StreamedEvent], bytes],
    of_job: Callable[[Job], bytes],
    headers: Mapping[str, str] | None = None,
) -> StreamingResponse:
    async def sent() -> AsyncIterator[bytes]:
        yield format_sse_event(retry=_RETRY_MS)
        async for item in items:
            match item:
                case StreamedEvent():
                    yield of_event(item)
                case Job():
                    yield of_job(item)
                case IdleHeartbeat():
                    yield KEEPALIVE_COMMENT
                case _:
                    assert_never(item)

    request.scope["state"][END_STREAM] = end
    return StreamingResponse(
        sent(), media_type="text/event-stream", headers={**(headers or {}), **_HEADERS}
    )
