"""Follows the live stream of a job over connections that break."""

import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, assert_never

import httpx
from pydantic import BaseModel
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from app.cli.client import (
    PATIENCE_S,
    TIMEOUT,
    Service,
    ServicePatience,
    check,
    is_service_id,
    parse_reply,
    path_of,
    unreadable_reply,
)
from app.cli.job_reports import JOBS, EventReply, JobReply, PointReply, StateReply
from app.cli.output import Output, chart, console, note
from app.cli.printable import duration, moment, printable
from app.cli.remote import Remote
from app.cli.replies import ServerEvent, at_most, server_events
from app.cli.terminal import ServiceError
from app.jobs.jobs import LAST_EVENT_ID
from app.kit.processes import INTERRUPTED
from app.rollouts.metrics import DISCARDED_COUNT, DISCARDED_SHARE, LOSS, REWARD_MEAN

_NO_CONTENT: Final = 204


@dataclass(frozen=True, slots=True)
class JobUpdate:
    """An event or a state of the job, with the reply that it was read from."""

    read: EventReply | StateReply
    reply: dict[str, Any]

    @property
    def is_last(self) -> bool:
        return self.read.is_last


@dataclass(frozen=True, slots=True)
class StreamSilent:
    """No event arrived; `reason` is the failure while the stream is unavailable."""

    is_last: ClassVar[bool] = False
    reason: str | None = None


class FollowedJob:
    def __init__(self, service: Service, job_id: str, *, patience_s: float = PATIENCE_S) -> None:
        self._service = service
        self._path = f"{JOBS}/{path_of(job_id)}"
        self._patience = ServicePatience(
            "The job continues; watch it again later.", patience_s=patience_s
        )
        self._last_id: str | None = None

    def items(self) -> Iterator[JobUpdate | StreamSilent]:
        """Yields items until the job has ended or is paused; that state is the last item."""
        while True:
            try:
                for item in self._connection():
                    yield item
                    if item.is_last:
                        return
                reason = self._patience.check("the service closed the stream")
            except (httpx.RequestError, ServiceError) as failure:
                reason = self._patience.reason(failure)
            yield StreamSilent(reason)
            self._patience.wait()

    def _connection(self) -> Iterator[JobUpdate | StreamSilent]:
        headers = {} if self._last_id is None else {LAST_EVENT_ID: self._last_id}
        http, path = self._service.http, f"{self._path}/stream"
        endless = at_most(None)  # each message has its own bound
        with http.stream(
            "GET", path, headers=headers, timeout=TIMEOUT, extensions=endless
        ) as reply:
            check(reply)
            if reply.status_code == _NO_CONTENT:  # it has ended, and there is no more event
                job = self._service.get(self._path)
                yield JobUpdate(parse_reply(StateReply, job), job)
                return
            if not reply.headers.get("content-type", "").startswith("text/event-stream"):
                raise unreadable_reply(str(reply.url))
            for message in server_events(reply.iter_raw()):
                self._patience.heard()
                yield self._read(message) if message.data else StreamSilent()

    def _read(self, message: ServerEvent) -> JobUpdate:
        try:
            data = json.loads(message.data)
        except (ValueError, RecursionError) as error:
            raise unreadable_reply(self._path) from error
        if message.name == "job":
            return JobUpdate(parse_reply(StateReply, data), data)
        event = parse_reply(EventReply, data)
        self._last_id = _sendable(message.id or event.id, self._path)
        return JobUpdate(event, data)


def _sendable(event_id: str, where: str) -> str:
    """Returns an id that a header may repeat. Raises `ServiceError` for any other."""
    if not is_service_id(event_id):
        raise unreadable_reply(where)
    return event_id


_EVENTS: Final = 6
_FAILURES: Final = 3
_CHART_LINES: Final = 10
_PICTURE_S: Final = 0.1
"""Seconds between two redraws: the past events of a job arrive all at once."""
_FAILURES_S: Final = 1.0
"""Seconds between two reads of failures, for the same reason."""
_SHOWN: Final = (REWARD_MEAN, LOSS)
"""Curves to draw: the first of these that the job has is shown."""
_STYLES: Final = {"warn": "yellow", "error": "red"}


class _Failure(BaseModel):
    step: int
    failure_class: str
    failure_message: str | None = None


class LiveView:
    def __init__(self, service: Service, job: JobReply, console: Console) -> None:
        self._service, self._job = service, job
        self._state: StateReply = job
        self._curves: dict[str, dict[str, dict[int, float]]] = {}
        """Values by curve, split and step."""
        self._events: deque[EventReply] = deque(maxlen=_EVENTS)
        self._failures: list[_Failure] = []
        self._failures_due = False
        self._failures_read_at = -_FAILURES_S
        self._interruption: str | None = None
        self._console = console
        self._drawn_at = 0.0
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.picture)
        self._live.start()

    def show(self, item: JobUpdate) -> None:
        self._interruption = None
        match item.read:
            case EventReply() as event:
                self._events.append(event)
                self._add_points(event.points)
                self._draw(at_once=False)
            case StateReply() as state:
                self._state = state
                self._read_failures(at_once=state.is_last)
                self._draw(at_once=True)
            case _:
                assert_never(item.read)

    def idle(self, reason: str | None) -> None:
        self._interruption = reason
        if reason is None:
            self._read_failures()
        self._draw(at_once=True)

    def close(self) -> None:
        self._live.stop()

    def picture(self) -> RenderableType:
        state = self._state
        model = printable(self._job.model)
        parts: list[RenderableType] = [
            Text(f"{printable(state.id)}  {printable(state.status)}  {model}", style="bold"),
            self._progress(),
        ]
        if (drawn := self._chart()) is not None:
            parts.append(drawn)
        parts += [Text(line) for line in self._lost()]
        parts += [
            Text(
                f"{moment(event.created_at)}  {printable(event.message)}",
                style=_STYLES.get(event.level, ""),
                no_wrap=True,
                overflow="ellipsis",
            )
            for event in self._events
        ]
        if self._interruption is not None:
            parts.append(
                Text(f"the stream is unavailable ({printable(self._interruption)}); trying again")
            )
        parts.append(
            Text(printable(state.ending) if state.is_last else "Ctrl-C leaves the job running")
        )
        return Group(*parts)

    def _draw(self, *, at_once: bool) -> None:
        if at_once or time.monotonic() >= self._drawn_at + _PICTURE_S:
            self._drawn_at = time.monotonic()
            self._live.refresh()

    def _add_points(self, points: list[PointReply]) -> None:
        for point in points:
            splits = self._curves.setdefault(point.name, {})
            splits.setdefault(point.split, {})[point.step] = point.value
            if point.name == DISCARDED_COUNT and point.value > 0:
                self._failures_due = True
        self._read_failures()

    def _read_failures(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not self._failures_due or not (at_once or now >= self._failures_read_at + _FAILURES_S):
            return
        self._failures_due, self._failures_read_at = False, now
        path = f"{JOBS}/{path_of(self._job.id)}/rollouts"
        # The picture continues with the earlier ones.
        with suppress(ServiceError, httpx.RequestError):
            page = self._service.get(path, failed="true", order="desc", limit=_FAILURES)
            self._failures = [parse_reply(_Failure, row) for row in page.get("data", [])]

    def _progress(self) -> RenderableType:
        state = self._state
        row = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=max(state.total_steps or 1, 1), completed=state.step, width=40)
        row.add_row(bar, Text(f"step {state.progress}{self._time_left()}"))
        return row

    def _time_left(self) -> str:
        state = self._state
        if state.is_last or state.estimated_finish is None:
            return ""
        return f", ends in about {duration(state.estimated_finish - time.time())}"

    def _chart(self) -> RenderableType | None:
        for name in _SHOWN:
            if splits := self._curves.get(name):
                series = {
                    f"{name} {split}": sorted(values.items()) for split, values in splits.items()
                }
                width = min(self._console.width - 1, 100)
                return Text(chart(series, width=width, height=_CHART_LINES))
        return None

    def _lost(self) -> list[str]:
        shares = self._curves.get(DISCARDED_SHARE, {}).get("train", {})
        if not shares:
            return []
        lines = [f"lost rollouts: {shares[max(shares)]:.1%} of the last step"]
        lines += [
            printable(f"  step {one.step}: {one.failure_class}: {one.failure_message or ''}")
            for one in self._failures
        ]
        return lines


class JobView(Protocol):
    def show(self, item: JobUpdate) -> None: ...

    def idle(self, reason: str | None) -> None:
        """Notes that no event arrived; `reason` is the failure while the stream is unavailable."""

    def close(self) -> None: ...


def watch_job(remote: Remote, job_id: str, job: JobReply | None = None) -> int:
    """Returns the exit code of the job's end, `INTERRUPTED` after Ctrl-C, which leaves the job
    running. Reads the job unless it is passed.
    """
    with remote.service() as service:
        if job is None:
            job = _found(service, job_id)
        view = _view(remote.out, service, job)
        try:
            return _follow(FollowedJob(service, job_id), view)
        except KeyboardInterrupt:
            view.close()
            note(
                f"the job continues. Watch it again: agent-rft jobs watch {printable(job_id)}; "
                f"end it: agent-rft jobs cancel {printable(job_id)}"
            )
            return INTERRUPTED
        finally:
            view.close()


def _found(service: Service, job_id: str) -> JobReply:
    """Returns the job. A service that refuses connections is reported at once, because the address
    may be wrong; one that is unavailable behind its proxy, or hangs up, is called again.
    """
    patience = ServicePatience("Watch the job again later.")
    while True:
        try:
            return parse_reply(JobReply, service.get(f"{JOBS}/{path_of(job_id)}"))
        except (httpx.RequestError, ServiceError) as failure:
            if isinstance(failure, httpx.ConnectError | httpx.ConnectTimeout):
                raise
            note(f"the service is unavailable ({patience.reason(failure)}); trying again")
        patience.wait()


def _follow(stream: FollowedJob, view: JobView) -> int:
    code = 0
    for item in stream.items():
        match item:
            case JobUpdate():
                view.show(item)
                code = item.read.exit_code
            case StreamSilent():
                view.idle(item.reason)
            case _:
                assert_never(item)
    return code


def _view(out: Output, service: Service, job: JobReply) -> JobView:
    if out.as_json:
        return _JsonView(out)
    return LiveView(service, job, console()) if sys.stdout.isatty() else _PlainView()


class _Lines:
    """A view that prints lines and keeps nothing on the screen."""

    def idle(self, reason: str | None) -> None:
        if reason is not None:
            note(f"the stream is unavailable ({printable(reason)}); trying again")

    def close(self) -> None:
        """Does nothing: nothing is open."""


class _JsonView(_Lines):
    def __init__(self, out: Output) -> None:
        self._out = out

    def show(self, item: JobUpdate) -> None:
        self._out.result(item.reply, lambda: None, has_more=not item.is_last)


class _PlainView(_Lines):
    def __init__(self) -> None:
        self._out = console()
        self._status: str | None = None

    def show(self, item: JobUpdate) -> None:
        match item.read:
            case EventReply() as event:
                self._print(f"{moment(event.created_at)}  {event.level:5}  {event.message}")
            case StateReply() as state:
                if state.status != self._status:
                    self._status = state.status
                    self._print(f"status: {state.status}, step {state.progress}")
                if state.is_last:
                    self._print(state.ending)
            case _:
                assert_never(item.read)

    def _print(self, line: str) -> None:
        print(printable(line), flush=True)
