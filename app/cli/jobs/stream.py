"""Follows the live stream of a job over connections that break.

Promises: each event comes once and in order, because a new connection goes on behind the last event
that was read; the stream ends with the job's end or its pause.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import httpx

from app.cli.jobs.listing import JOBS
from app.cli.jobs.replies import EventReply, StateReply
from app.cli.server_events import ServerEvent, server_events
from app.cli.service_client import TIMEOUT, Service, check, path_of, shaped, strange
from app.cli.service_errors import ServiceError
from app.domain.exit_codes import NO_ANSWER, TRY_LATER
from app.domain.jobs.streams import LAST_EVENT_ID

_NO_CONTENT: Final = 204
_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 10.0
_PATIENCE_S: Final = 300.0
"""Time without a sign of the service, after which following ends: an upgrade takes less."""


@dataclass(frozen=True, slots=True)
class News:
    """An event or a state of the job, with the reply that it was read from."""

    read: EventReply | StateReply
    reply: dict[str, Any]

    @property
    def is_last(self) -> bool:
        return self.read.is_last


@dataclass(frozen=True, slots=True)
class StreamSilent:
    """Nothing happened; `reason` says why the stream is away, if it is."""

    is_last: ClassVar[bool] = False
    reason: str | None = None


class FollowedJob:
    def __init__(self, service: Service, job_id: str, *, patience_s: float = _PATIENCE_S) -> None:
        self._service = service
        self._path = f"{JOBS}/{path_of(job_id)}"
        self._patience_s = patience_s
        self._last_id: str | None = None
        self._heard_at: float | None = None
        self._wait_s = _FIRST_WAIT_S

    def items(self) -> Iterator[News | StreamSilent]:
        """Yields news until the job has ended or is paused: that state comes last."""
        while True:
            try:
                for item in self._connection():
                    yield item
                    if item.is_last:
                        return
                reason = "the service closed the stream"
            except httpx.RequestError as error:
                if self._heard_at is None:
                    raise
                reason = str(error) or type(error).__name__
            except ServiceError as failure:
                if self._heard_at is None or failure.exit_code != TRY_LATER:
                    raise
                reason = str(failure)
            self._give_up_after(reason)
            yield StreamSilent(reason)
            time.sleep(self._wait_s)
            self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)

    def _give_up_after(self, reason: str) -> None:
        heard_at = time.monotonic() if self._heard_at is None else self._heard_at
        if time.monotonic() - heard_at >= self._patience_s:
            raise ServiceError(
                f"the stream did not come back for {self._patience_s:.0f} s ({reason}). The job "
                "goes on; watch it again later.",
                exit_code=NO_ANSWER,
            )

    def _connection(self) -> Iterator[News | StreamSilent]:
        headers = {} if self._last_id is None else {LAST_EVENT_ID: self._last_id}
        http = self._service.http
        with http.stream("GET", f"{self._path}/stream", headers=headers, timeout=TIMEOUT) as reply:
            check(reply)
            if reply.status_code == _NO_CONTENT:  # it has ended, and there is no more event
                job = self._service.get(self._path)
                yield News(shaped(StateReply, job), job)
                return
            if not reply.headers.get("content-type", "").startswith("text/event-stream"):
                raise strange(str(reply.url))
            self._heard_at = time.monotonic()
            for message in server_events(reply.iter_raw()):
                self._heard_at, self._wait_s = time.monotonic(), _FIRST_WAIT_S
                yield self._read(message) if message.data else StreamSilent()

    def _read(self, message: ServerEvent) -> News:
        try:
            data = json.loads(message.data)
        except (ValueError, RecursionError) as error:
            raise strange(self._path) from error
        if message.name == "job":
            return News(shaped(StateReply, data), data)
        event = shaped(EventReply, data)
        self._last_id = message.id or event.id
        return News(event, data)
