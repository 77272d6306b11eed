"""Follows the live stream of a job over connections that break.

Promises: each event comes once and in order, because a new connection continues after the last
event read; the stream ends with the job's end or its pause.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import httpx

from app.cli.jobs.listing import JOBS
from app.cli.jobs.replies import EventReply, StateReply
from app.cli.service.bounded_replies import at_most
from app.cli.service.client import TIMEOUT, Service, check, parse_reply, path_of, unreadable_reply
from app.cli.service.ids import is_service_id
from app.cli.service.patience import PATIENCE_S, ServicePatience
from app.cli.service.server_events import ServerEvent, server_events
from app.cli.terminal.service_errors import ServiceError
from app.domain.jobs.streams import LAST_EVENT_ID

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
