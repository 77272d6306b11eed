"""Decides from the pulse of a supervised process whether it is hung, and whether its supervisor
must carry out a pause.

Time is counted in checks, one per heartbeat of the lease: a supervisor that was itself stopped for
a while made no checks, so its own pause does not count against the process.
"""

import asyncio
from asyncio import StreamReader
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Self

import structlog

from app.settings.settings import Settings
from workers.processes.pulse import decode
from workers.progress import ProgressMark

log = structlog.get_logger()

_SHORTEST_START_S: Final = 90.0
"""Time until the first beat, however short the lease: the interpreter reads its modules, and the
machine may be busy.
"""
_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts of a supervised process, in seconds."""

    look_s: float
    """Time between two checks."""
    stall_s: float
    """Longest time without a beat of the process's event loop."""
    progress_s: float
    """Longest time without a mark of progress."""
    pause_s: float
    """Longest time until a requested pause is carried out."""
    start_s: float
    """Longest time until the first beat."""

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
    """The process must be ended."""

    reason: str
    """The text that the owner of the row reads."""
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
        """Counts one check, and returns a verdict once a timeout has passed."""
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
    """Checks a process at each interval until it must be ended."""
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
