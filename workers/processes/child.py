"""A child process, `python -m MODULE ID PROJECT FENCE`; exit code 0: no further claim is needed."""

import asyncio
import contextlib
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

import structlog

from app.kit.directories import FreeSpace
from app.kit.errors import LeaseLost, Unavailable
from app.kit.leases import Lease
from app.kit.logs import log_to_stderr
from app.kit.telemetry import SPANS, SpanPosition, exporting_spans, span_of, trace_of
from app.settings import Settings, load_settings
from workers.processes.clients import Clients, open_clients
from workers.processes.leased_work import LeasedWork, renew_until_end, run_while_renewed
from workers.progress import PROGRESS, ProgressMark

log = structlog.get_logger()

EXIT_FAULT = 1
EXIT_LEASE_LOST = 3
EXIT_ORPHANED = 4
EXIT_NO_SPACE = 5

Body = Callable[[Clients, Lease], Coroutine[Any, Any, None]]
OnFault = Callable[[Clients, Lease, Exception], Awaitable[bool]]


def run_as_child(body: Callable[[Settings], Coroutine[Any, Any, int]]) -> int:
    """Runs `body` as this process, which ends with its parent. Returns the exit code."""
    end_with_parent(EXIT_ORPHANED)
    log_to_stderr()
    return asyncio.run(body(load_settings()))


async def run_until_terminated(work: Coroutine[Any, Any, None], *, what: str) -> int:
    """Returns the exit code; the next process continues work that a SIGTERM ended."""
    running = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    try:
        await running
    except (Exception, asyncio.CancelledError):  # a process boundary: beat starts another one
        log.exception("child interrupted", work=what)
        return EXIT_FAULT
    return 0


def run_supervised(work: LeasedWork, body: Body, *, on_fault: OnFault) -> int:
    """Runs `body` in a process whose supervisor renews and releases the lease, and kills the
    process when its event loop or its marks of progress stop. `on_fault` handles an exception of
    `body`, and returns whether it has ended the row. It is not called on a full disk, which may be
    the cause: the row waits then, and no attempt is counted.
    """
    lease = _lease_of(work, sys.argv[1:])
    return run_as_child(lambda settings: _run_supervised(settings, lease, body, on_fault))


def run_dispatched(work: LeasedWork, body: Body) -> int:
    """In a process that renews its own lease, and releases it after an exception or a SIGTERM."""
    lease = _lease_of(work, sys.argv[1:])
    return run_as_child(lambda settings: _run_dispatched(settings, work, lease, body))


def _lease_of(work: LeasedWork, arguments: list[str]) -> Lease:
    row_id, project_id, fence = arguments
    structlog.contextvars.bind_contextvars(fence=int(fence), **work.named(row_id))
    return Lease(row_id, project_id, int(fence))


async def _run_supervised(settings: Settings, lease: Lease, body: Body, on_fault: OnFault) -> int:
    beating = asyncio.ensure_future(send_beats(settings.lease.heartbeat_s / 2))
    try:
        async with exporting_spans(settings.telemetry.span_export()):
            return await _run_with_clients(settings, lease, body, on_fault)
    finally:
        beating.cancel()


async def _run_with_clients(settings: Settings, lease: Lease, body: Body, on_fault: OnFault) -> int:
    async with open_clients(settings, project_id=lease.project_id) as clients:
        try:
            await body(clients, lease)
        except LeaseLost:
            return _lease_lost()
        except Exception as error:  # a process boundary: another attempt, or the row's end
            log.exception("child ended by a fault")
            if FreeSpace.of(settings).lacks():
                return EXIT_NO_SPACE
            with contextlib.suppress(LeaseLost, Unavailable):
                if await on_fault(clients, lease, error):
                    return 0
            return EXIT_FAULT
    return 0


async def _run_dispatched(settings: Settings, work: LeasedWork, lease: Lease, body: Body) -> int:
    async with (
        exporting_spans(settings.telemetry.span_export()),
        open_clients(settings, project_id=lease.project_id) as clients,
    ):
        renewing = renew_until_end(work, clients.database, lease, limits=settings.lease)
        traced = _traced(work, lease, body(clients, lease))
        running = asyncio.ensure_future(run_while_renewed(traced, renewing))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        try:
            await running
        except LeaseLost:
            return _lease_lost()
        except asyncio.CancelledError:
            log.info("child ended on request, lease released")
            await _release(work, clients, lease, orderly=True)
            return EXIT_FAULT
        except Exception:  # a process boundary: another claim continues
            log.exception("child ended early, lease released")
            await _release(work, clients, lease, orderly=False)
            return EXIT_FAULT
    return 0


async def _traced(work: LeasedWork, lease: Lease, body: Coroutine[Any, Any, None]) -> None:
    name = work.claim_span
    if name is None:
        await body
        return
    position = SpanPosition(trace_of(lease.id), span_of(name, lease.id, lease.fence))
    with SPANS.open(name, position) as span:
        span.mark_asked()
        span.attributes |= {
            f"agent_rft.{name}.id": lease.id,
            "agent_rft.project.id": lease.project_id,
            "agent_rft.fence": lease.fence,
        }
        await body


async def _release(work: LeasedWork, clients: Clients, lease: Lease, *, orderly: bool) -> None:
    with contextlib.suppress(Unavailable):
        async with work.claims(clients.database) as unit:
            await unit.leases.release(lease, orderly=orderly, back_off=False)


def _lease_lost() -> int:
    log.warning("lease lost, nothing more is written")
    return EXIT_LEASE_LOST


_STDIN = 0


def end_with_parent(exit_code: int) -> None:

    def wait() -> None:
        # Not through `sys.stdin`: a thread that holds its lock makes the interpreter abort at exit.
        # A parent that ends before it has read all beats resets its end of the socket.
        with suppress(ConnectionResetError):
            while os.read(_STDIN, 1):
                pass
        os._exit(exit_code)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()


_MAX_WORDS = 120


def encode(mark: ProgressMark) -> bytes:
    words = " ".join(mark.what.split())[:_MAX_WORDS]
    return f"{mark.number} {words}\n".encode()


def decode(line: bytes) -> ProgressMark:
    number, _, what = line.decode().strip().partition(" ")
    return ProgressMark(int(number), what)


async def send_beats(every_s: float) -> None:
    """Writes a line at every beat, for ever. Returns at once in a process without a supervisor."""
    if not stat.S_ISSOCK(os.fstat(_STDIN).st_mode):
        return
    # A second descriptor of the same socket; the thread of `parent_watch` blocks on the first one,
    # so the socket itself must not become non-blocking.
    with socket.socket(fileno=os.dup(_STDIN)) as line:
        while True:
            # A supervisor that was stopped for a while reads nothing; one more line would have no
            # reader.
            with suppress(BlockingIOError, BrokenPipeError):
                line.send(encode(PROGRESS.latest), socket.MSG_DONTWAIT)
            await asyncio.sleep(every_s)
