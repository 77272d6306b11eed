"""`agent-rft jobs watch`: follows a job to its end or its pause.

Prints a live picture in a terminal; elsewhere one line for each event, or one JSON envelope.
"""

import sys
from typing import Protocol, assert_never

import httpx

from app.cli.jobs.listing import JOBS
from app.cli.jobs.live_view import LiveView
from app.cli.jobs.replies import EventReply, JobReply, StateReply
from app.cli.jobs.stream import FollowedJob, JobUpdate, StreamSilent
from app.cli.service.client import Service, parse_reply, path_of
from app.cli.service.patience import ServicePatience
from app.cli.service.remote import Remote
from app.cli.terminal.output import Output, console, note
from app.cli.terminal.printable import printable
from app.cli.terminal.service_errors import ServiceError
from app.cli.terminal.times import moment
from app.domain.processes.exit_codes import INTERRUPTED


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
