"""The protocols of a tracker and of its library, and the results of their writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from workers.trackers.tracker_update import TrackerUpdate


class TrackerFault(Exception):
    """A tracker could not be written; the text is safe to show to the job's owner."""


@dataclass(frozen=True, slots=True)
class WriteReport:
    """The result of a write."""

    url: str | None = None
    """Address of the page of the run."""
    notes: Sequence[str] = ()
    """Warnings for the job's owner; each is one event of the job."""


NOTHING_NEW: Final = WriteReport()


class LibraryRun(Protocol):
    """Writes one job with the library of a tracker. Both methods block."""

    def write(self, update: TrackerUpdate) -> WriteReport:
        """Writes what the tracker does not have yet; an update with an outcome ends the run there,
        and the call returns when everything has arrived. After an error the run is opened anew.
        """
        ...

    def close(self) -> None: ...


class Tracker(Protocol):
    """A run that does not block the event loop."""

    wants_all: bool
    """True until the first write, for a library that cannot add to what an earlier process
    wrote: the update must have every step.
    """

    async def write(self, update: TrackerUpdate) -> WriteReport:
        """Writes as `LibraryRun.write`. Raises `TrackerFault`, or any error of the library."""
        ...

    async def close(self) -> None:
        """Ends the run in order; it may continue later."""
        ...

    async def abandon(self) -> None:
        """Ends the run at once, after an error."""
        ...
