"""Follows the live stream of a job over connections that break."""

import json
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, assert_never

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from app.cli.client import PATIENCE_S, NoAnswer, Service, ServicePatience
from app.cli.jobs import JOBS, ended_as, progress
from app.cli.output import Output, chart, console, note
from app.cli.remote import Remote
from app.cli.replies import (
    NOTHING,
    Reply,
    ServerEvent,
    is_service_id,
    path_of,
    server_events,
    unreadable_reply,
)
from app.cli.terminal import ServiceError, duration, moment, printable
from app.kit.errors import NOTHING_TO_LEARN as NOTHING_TO_LEARN_CODE
from app.kit.processes import INTERRUPTED, JOB_PAUSED, NOTHING_TO_LEARN, RUN_CANCELLED, RUN_FAILED
from app.rollouts.metrics import DISCARDED_COUNT, DISCARDED_SHARE, LOSS, REWARD_MEAN

_NO_CONTENT: Final = 204
_LAST: Final = frozenset({"succeeded", "failed", "cancelled", "paused"})


@dataclass(frozen=True, slots=True)
class Event:
    reply: Reply
    at: str
    level: str
    message: str


class State:
    def __init__(self, reply: Reply) -> None:
        self.reply, self.id, self.status = reply, reply.id(), reply.text("status")
        self.progress = progress(reply)

    @property
    def is_last(self) -> bool:
        return self.status in _LAST

    @property
    def exit_code(self) -> int:
        error = self.reply.child("error") or NOTHING
        nothing = error.find("code", str) == NOTHING_TO_LEARN_CODE
        failed = NOTHING_TO_LEARN if nothing else RUN_FAILED
        codes = {"failed": failed, "cancelled": RUN_CANCELLED, "paused": JOB_PAUSED}
        return codes.get(self.status, 0)

    @property
    def ending(self) -> str:
        error = self.reply.child("error")
        match self.status:
            case "succeeded":
                said, model = ended_as(self.reply), self.reply.find("fine_tuned_model", str)
                return f"{said}: the tuned model is {model}"
            case "paused":
                return f"paused at step {self.progress}: agent-rft jobs resume {self.id}"
            case "failed" if error is not None:
                return f"failed ({error.find('code', str)}): {error.find('message', str)}"
            case status:
                return status


@dataclass(frozen=True, slots=True)
class StreamSilent:
    """No event arrived; `reason` is the failure while the stream is unavailable."""

    reason: str | None = None


class FollowedJob:
    def __init__(self, service: Service, job_id: str, *, patience_s: float = PATIENCE_S) -> None:
        self._service = service
        self._path = f"{JOBS}/{path_of(job_id)}"
        self._patience = ServicePatience(
            "The job continues; watch it again later.", patience_s=patience_s
        )
        self._last_id: str | None = None

    def items(self) -> Iterator[Event | State | StreamSilent]:
        while True:
            try:
                for item in self._connection():
                    yield item
                    if isinstance(item, State) and item.is_last:
                        return
                reason = self._patience.check("the service closed the stream")
            except ServiceError as failure:
                reason = self._patience.reason(failure)
            yield StreamSilent(reason)
            self._patience.wait()

    def _connection(self) -> Iterator[Event | State | StreamSilent]:
        headers = {} if self._last_id is None else {"Last-Event-ID": self._last_id}
        # No bound but each message's own: the stream has no end.
        path = f"{self._path}/stream"
        with self._service.stream("GET", path, headers=headers, endless=True) as reply:
            if reply.status == _NO_CONTENT:  # it has ended, and there is no more event
                yield State(self._service.get(self._path))
                return
            if not reply.headers.get("content-type", "").startswith("text/event-stream"):
                raise unreadable_reply(reply.url)
            for message in server_events(reply.chunks):
                self._patience.heard()
                yield self._read(message) if message.data else StreamSilent()

    def _read(self, message: ServerEvent) -> Event | State:
        try:
            read = Reply(json.loads(message.data))
        except (ValueError, RecursionError) as error:
            raise unreadable_reply(self._path) from error
        if message.name == "job":
            return State(read)
        event_id = message.id or read.text("id")
        if not is_service_id(event_id):  # no header could repeat it
            raise unreadable_reply(self._path)
        at = moment(read.get("created_at", float))
        event = Event(read, at, read.text("level"), read.text("message"))
        self._last_id = event_id
        return event


_PICTURE_S: Final = 0.1
"""Seconds between two redraws: the past events of a job arrive all at once."""
_FAILURES_S: Final = 1.0
"""Seconds between two reads of failures, for the same reason."""
_SHOWN: Final = (REWARD_MEAN, LOSS)
"""Curves to draw: the first of these that the job has is shown."""
_STYLES: Final = {"warn": "yellow", "error": "red"}


class JobView(ABC):
    """Shows a followed job. By itself it keeps nothing on the screen."""

    @abstractmethod
    def show(self, item: Event | State) -> None: ...

    def idle(self, reason: str | None) -> None:
        """Notes that no event arrived; `reason` is the failure while the stream is unavailable."""
        if reason is not None:
            note(f"the stream is unavailable ({reason}); trying again")

    def close(self) -> None:  # noqa: B027 - most views have nothing open
        pass


class LiveView(JobView):
    def __init__(self, service: Service, job: Reply, console: Console) -> None:
        self._service, self._state, self._console = service, State(job), console
        self._model = printable(job.text("model"))
        self._curves: dict[str, dict[str, dict[int, float]]] = {}
        """Values by curve, split and step."""
        self._events: deque[Event] = deque(maxlen=6)
        self._failures: list[str] = []
        self._failures_due = False
        self._failures_read_at = -_FAILURES_S
        self._interruption: str | None = None
        self._drawn_at = 0.0
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.picture)
        self._live.start()

    @override
    def show(self, item: Event | State) -> None:
        self._interruption = None
        match item:
            case Event():
                self._events.append(item)
                self._add_points(item.reply.children("points"))
                self._draw(at_once=False)
            case State():
                self._state = item
                self._read_failures(at_once=item.is_last)
                self._draw(at_once=True)
            case _:
                assert_never(item)

    @override
    def idle(self, reason: str | None) -> None:
        self._interruption = reason
        if reason is None:
            self._read_failures()
        self._draw(at_once=True)

    @override
    def close(self) -> None:
        self._live.stop()

    def picture(self) -> RenderableType:
        state = self._state
        parts: list[RenderableType] = [
            Text(f"{printable(state.id)}  {printable(state.status)}  {self._model}", style="bold"),
            self._progress(),
        ]
        parts += map(Text, [*self._chart(), *self._lost()])
        parts += [
            Text(
                f"{event.at}  {printable(event.message)}",
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

    def _add_points(self, points: list[Reply]) -> None:
        for point in points:
            name, value = point.text("name"), point.get("value", float)
            splits = self._curves.setdefault(name, {})
            splits.setdefault(point.text("split"), {})[point.get("step", int)] = value
            if name == DISCARDED_COUNT and value > 0:
                self._failures_due = True
        self._read_failures()

    def _read_failures(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not self._failures_due or not (at_once or now >= self._failures_read_at + _FAILURES_S):
            return
        self._failures_due, self._failures_read_at = False, now
        path = f"{JOBS}/{path_of(self._state.id)}/rollouts"
        with suppress(ServiceError):  # the picture continues with the earlier ones
            page = self._service.get(path, failed="true", order="desc", limit=3)
            self._failures = [
                f"  step {one.get('step', int)}: {one.text('failure_class')}: "
                f"{one.find('failure_message', str) or ''}"
                for one in page.children("data")
            ]

    def _progress(self) -> RenderableType:
        state, row = self._state, Table.grid(padding=(0, 2))
        total, step = state.reply.find("total_steps", int), state.reply.find("step", int)
        finish_at, left = state.reply.find("estimated_finish", float), ""
        if finish_at is not None and not state.is_last:
            left = f", ends in about {duration(finish_at - time.time())}"
        bar = ProgressBar(total=max(total or 1, 1), completed=step or 0, width=40)
        row.add_row(bar, Text(f"step {state.progress}{left}"))
        return row

    def _chart(self) -> list[str]:
        for name in _SHOWN:
            if splits := self._curves.get(name):
                series = {
                    f"{name} {split}": list(values.items()) for split, values in splits.items()
                }
                width = min(self._console.width - 1, 100)
                return [chart(series, width=width, height=4)]
        return []

    def _lost(self) -> list[str]:
        shares = self._curves.get(DISCARDED_SHARE, {}).get("train", {})
        if not shares:
            return []
        lost = f"lost rollouts: {shares[max(shares)]:.1%} of the last step"
        return [lost, *map(printable, self._failures)]


def watch_job(remote: Remote, job_id: str, job: Reply | None = None) -> int:
    """Returns the code of the job's end, or `INTERRUPTED`. Reads the job unless it is passed."""
    with remote.service() as service:
        view = _view(remote.out, service, job or _found(service, job_id))
        code = 0
        try:
            for item in FollowedJob(service, job_id).items():
                match item:
                    case StreamSilent():
                        view.idle(item.reason)
                    case Event() | State():
                        view.show(item)
                        code = item.exit_code if isinstance(item, State) else 0
                    case _:
                        assert_never(item)
        except KeyboardInterrupt:
            view.close()
            note(
                f"the job continues. Watch it again: agent-rft jobs watch {job_id}; end it: "
                f"agent-rft jobs cancel {job_id}"
            )
            return INTERRUPTED
        finally:
            view.close()
    return code


def _found(service: Service, job_id: str) -> Reply:
    """Reports a refused connection at once, because the address may be wrong."""
    patience = ServicePatience("Watch the job again later.")
    while True:
        try:
            return service.get(f"{JOBS}/{path_of(job_id)}")
        except ServiceError as failure:
            if isinstance(failure, NoAnswer) and failure.never_sent:
                raise
            note(f"the service is unavailable ({patience.reason(failure)}); trying again")
        patience.wait()


def _view(out: Output, service: Service, job: Reply) -> JobView:
    if out.as_json:
        return _JsonView(out)
    return LiveView(service, job, console()) if sys.stdout.isatty() else _PlainView()


class _JsonView(JobView):
    def __init__(self, out: Output) -> None:
        self._out = out

    @override
    def show(self, item: Event | State) -> None:
        is_last = isinstance(item, State) and item.is_last
        self._out.result(item.reply.data, lambda: None, has_more=not is_last)


class _PlainView(JobView):
    def __init__(self) -> None:
        self._status: str | None = None

    @override
    def show(self, item: Event | State) -> None:
        match item:
            case Event():
                self._print(f"{item.at}  {item.level:5}  {item.message}")
            case State():
                if item.status != self._status:
                    self._status = item.status
                    self._print(f"status: {item.status}, step {item.progress}")
                if item.is_last:
                    self._print(item.ending)
            case _:
                assert_never(item)

    def _print(self, line: str) -> None:
        print(printable(line), flush=True)
