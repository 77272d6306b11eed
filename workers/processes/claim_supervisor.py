"""Supervises one claim of one row: acquires the lease, starts the child that does the work, renews
the lease, monitors the child, ends it and releases the lease. The child runs in a session of its
own and ends with this process: its standard input is one end of a socket pair whose other end only
this process has open. A lease that cannot be renewed in time ends the child, because a worker with
a newer fence may already run. A hung child is killed. So is a child that does not carry out a
pause, and its row is paused.
"""

import asyncio
import contextlib
import signal
import socket
from asyncio import StreamReader
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, Self

import structlog

from app.database import Database
from app.kit.directories import FreeSpace
from app.kit.errors import LeaseLost, Unavailable
from app.kit.job_queue import CeleryJobQueue, JobQueue
from app.kit.leases import Lease, QueuedRows
from app.settings import LeaseSettings, Settings
from workers.processes.child import EXIT_FAULT, EXIT_LEASE_LOST, EXIT_NO_SPACE, decode
from workers.processes.clients import open_database
from workers.processes.forking.forks import ChildProcess, Starter
from workers.processes.leased_work import ClaimLoop, LeasedWork, renew_until_end
from workers.processes.retry import PATIENCE_S, retry_while_unavailable
from workers.progress import ProgressMark
from workers.telemetry.process_metrics import count_claim

log = structlog.get_logger()

_SHORTEST_START_S: Final = 90.0
"""However short the lease: the interpreter reads its modules, and the machine may be busy."""
_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Patience:
    look_s: float
    stall_s: float
    progress_s: float
    pause_s: float
    start_s: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        lease = settings.lease
        return cls(
            look_s=lease.heartbeat_s,
            stall_s=2 * lease.lease_s,
            progress_s=settings.progress_deadline_s,
            pause_s=lease.pause_grace_s,
            start_s=max(_SHORTEST_START_S, 2.5 * lease.lease_s),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    reason: str
    pauses: bool = False
    """True when the row is to be paused, and not claimed again."""


class Vitals:
    """The pulse of one process, and the number of checks since its last beat."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._mark: ProgressMark | None = None
        self._silent = self._stuck = self._pausing = 0

    def heard(self, mark: ProgressMark) -> None:
        self._silent = 0
        if self._mark is None or mark.number != self._mark.number:
            self._stuck = 0
        self._mark = mark

    def look(self, *, pause_requested: bool) -> Verdict | None:
        self._silent += 1
        self._stuck += self._mark is not None
        self._pausing = self._pausing + 1 if pause_requested else 0
        reason = self._hung()
        if reason is not None:
            return Verdict(reason, pauses=pause_requested)
        if self._pausing * self._patience.look_s >= self._patience.pause_s:
            return Verdict(
                f"The run did not come to the end of its step within "
                f"{duration(self._patience.pause_s)} of the request to pause.",
                pauses=True,
            )
        return None

    def _hung(self) -> str | None:
        patience, mark = self._patience, self._mark
        silent_s, stuck_s = (n * patience.look_s for n in (self._silent, self._stuck))
        if silent_s >= (patience.start_s if mark is None else patience.stall_s):
            return f"The process of this run did not respond for {duration(silent_s)}."
        if stuck_s >= patience.progress_s:
            last = "its start" if mark is None else f"'{mark.what}'"
            return f"The run made no progress for {duration(stuck_s)} after {last}."
        return None


async def watch_process(
    pulse: StreamReader, patience: Patience, *, pause_requested: Callable[[], Awaitable[bool]]
) -> Verdict:
    vitals = Vitals(patience)
    listening = asyncio.ensure_future(_listen(pulse, vitals))
    try:
        while True:
            await asyncio.sleep(patience.look_s)
            verdict = vitals.look(pause_requested=await pause_requested())
            if verdict is not None:
                return verdict
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def _listen(pulse: StreamReader, vitals: Vitals) -> None:
    while line := await pulse.readline():
        try:
            vitals.heard(decode(line))
        except ValueError:
            log.warning("not a pulse", line=line[:80])


def duration(seconds: float) -> str:
    if seconds < 2 * _MINUTE_S:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE_S:.0f} minutes"


TERM_GRACE_S = 10.0


async def supervise(work: LeasedWork, settings: Settings, *, starter: Starter) -> None:
    """On a full disk the row waits for the sweeper's next notification."""
    if FreeSpace.of(settings).lacks():
        log.warning("nothing claimed, too little free space", noun=work.noun)
        return
    queue = CeleryJobQueue(settings.redis_url)
    async with open_database(settings, pool_size=2) as database, contextlib.aclosing(queue):

        def start(lease: Lease) -> Coroutine[Any, Any, None]:
            named = work.named(lease.id)
            log.info("claimed", fence=lease.fence, attempt=lease.attempts, **named)
            return ClaimSupervisor(
                work,
                lease,
                database=database,
                queue=queue,
                starter=starter,
                limits=settings.lease,
                patience=Patience.of(settings),
            ).run()

        claim = partial(work.claim, database, settings)
        loop = ClaimLoop(claim, start, patience_s=PATIENCE_S)
        running = asyncio.ensure_future(loop.run_once())
        # An orderly stop of the worker releases the lease instead of letting it run out.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
        await running


class ClaimSupervisor:
    def __init__(
        self,
        work: LeasedWork,
        lease: Lease,
        *,
        database: Database,
        queue: JobQueue,
        starter: Starter,
        limits: LeaseSettings,
        patience: Patience,
    ) -> None:
        self._work = work
        self._lease = lease
        self._database = database
        self._queue = queue
        self._starter = starter
        self._limits = limits
        self._patience = patience
        self._named = work.named(lease.id)

    async def run(self) -> None:
        ours, theirs = socket.socketpair()
        pulse, line = await asyncio.open_connection(sock=ours)
        try:
            with theirs:
                child = self._starter.start(self._work.command(self._lease), stdin=theirs.fileno())
            await self._run(child, pulse)
        finally:
            line.close()

    async def _run(self, child: ChildProcess, pulse: asyncio.StreamReader) -> None:
        try:
            verdict = await self._watch(child, pulse)
            if verdict is not None:
                log.warning("child killed", reason=verdict.reason, **self._named)
                await kill(child)
        except asyncio.CancelledError:
            count_claim("released")
            await end(child, grace_s=self._grace_s)
            await self._release(orderly=True)
            raise
        finally:
            await end(child, grace_s=self._grace_s)
        count_claim("killed" if verdict is not None else _end_of(child.returncode))
        if verdict is not None:
            await self._carry_out(verdict)
        elif child.returncode == EXIT_NO_SPACE:
            log.warning("no free space, the row waits for some", **self._named)
            await self._release(orderly=True, notify=False)
        elif child.returncode != 0:
            log.warning("child failed", returncode=child.returncode, **self._named)
            fault = child.fault
            ending = (
                None
                if fault is None
                else _FailedStart(
                    "worker_cannot_start",
                    f"The worker could not start the process of the run: {fault.rstrip('.')}.",
                )
            )
            await self._release(orderly=False, ending=ending)

    @property
    def _grace_s(self) -> float:
        return min(TERM_GRACE_S, self._limits.lease_s / 2)

    async def _watch(self, child: ChildProcess, pulse: asyncio.StreamReader) -> Verdict | None:
        """Renews the lease until the child has exited. Returns early with the reason to kill it. A
        child that has ended its row has one more lease's time to exit.
        """
        exited = asyncio.wrap_future(child.ended)
        renewing = asyncio.ensure_future(
            renew_until_end(self._work, self._database, self._lease, limits=self._limits)
        )
        attending = asyncio.ensure_future(
            watch_process(pulse, self._patience, pause_requested=self._pause_requested)
        )
        tasks = (exited, renewing, attending)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if exited.done():
                return None
            if attending.done():
                return attending.result()
            await renewing
            await asyncio.wait((exited,), timeout=self._limits.lease_s)
            if exited.done():
                return None
            return Verdict("The process of this run did not exit after the run's end.")
        except LeaseLost as error:
            log.warning("lease lost", error=str(error), **self._named)
            return Verdict("The lease of this run could not be renewed in time.")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pause_requested(self) -> bool:
        try:
            async with self._work.claims(self._database) as unit:
                return await unit.leases.pause_requested(self._lease)
        except Unavailable:
            return False

    async def _carry_out(self, verdict: Verdict) -> None:
        """Releases or pauses the row and tells its owner, unless it ended or was claimed again."""
        if not verdict.pauses:
            ending = _FailedStart("run_hung", f"{verdict.reason} Its process was ended.")
            await self._release(orderly=False, ending=ending)
            return

        async def pause() -> None:
            async with self._work.claims(self._database) as unit:
                await unit.leases.pause(self._lease, verdict.reason)

        with contextlib.suppress(LeaseLost, Unavailable):
            await retry_while_unavailable(pause)

    async def _release(
        self, *, orderly: bool, ending: "_FailedStart | None" = None, notify: bool = True
    ) -> None:
        """Releases the lease, so that another worker need not wait for its end. `ending`: why this
        attempt ended, for the row's owner. The first failed attempt sends a notification at once.
        For later ones the sweeper sends it after a delay, in which the cause may disappear.
        """

        async def release() -> int | None:
            async with self._work.claims(self._database) as unit:
                attempts = await unit.leases.release(self._lease, orderly=orderly, back_off=True)
                if ending is not None and attempts is not None:
                    await self._report_ending(unit.leases, ending, attempts)
                return attempts

        with contextlib.suppress(Unavailable):
            attempts = await retry_while_unavailable(release)
            if notify and attempts is not None and attempts <= 1:
                await self._work.notify(self._queue, self._lease.id)

    async def _report_ending(
        self, leases: QueuedRows, ending: "_FailedStart", attempts: int
    ) -> None:
        """If the last attempt started no process, this worker alone knows why, and ends the row."""
        limit = self._limits.max_attempts
        await leases.note(
            self._lease, ending.reason, code=ending.code, attempts=attempts, limit=limit
        )
        if ending.code == "worker_cannot_start" and attempts >= limit:
            message = f"The {self._work.noun}'s worker failed {limit} times. {ending.reason}"
            await leases.fail(self._lease, message)


def _end_of(returncode: int | None) -> str:
    named = {0: "ended", EXIT_LEASE_LOST: "lease_lost", EXIT_NO_SPACE: "no_space"}
    return named.get(EXIT_FAULT if returncode is None else returncode, "failed")


@dataclass(frozen=True, slots=True)
class _FailedStart:
    code: Literal["run_hung", "worker_cannot_start"]
    reason: str


async def kill(child: ChildProcess) -> None:
    child.signal(signal.SIGKILL)
    await asyncio.wrap_future(child.ended)


async def end(child: ChildProcess, *, grace_s: float) -> None:
    started = child.pid is not None
    for number in (signal.SIGTERM, signal.SIGKILL) if started else (signal.SIGKILL,):
        if child.returncode is not None:
            return
        child.signal(number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.wrap_future(child.ended), timeout=grace_s)
