"""Shows a running job in a terminal: progress, curves, lost rollouts, failures and events."""

import time
from collections import deque
from contextlib import suppress
from typing import Final, assert_never

import httpx
from pydantic import BaseModel
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from app.cli.jobs.listing import JOBS
from app.cli.jobs.replies import EventReply, JobReply, PointReply, StateReply
from app.cli.jobs.stream import JobUpdate
from app.cli.service.client import Service, parse_reply, path_of
from app.cli.terminal.charts import chart
from app.cli.terminal.printable import printable
from app.cli.terminal.service_errors import ServiceError
from app.cli.terminal.times import duration, moment
from app.domain.rollouts.metrics import DISCARDED_COUNT, DISCARDED_SHARE, LOSS, REWARD_MEAN

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
