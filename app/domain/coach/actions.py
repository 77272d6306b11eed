"""The actions of a session's step: a closed union. Pure data."""

from dataclasses import dataclass

from app.domain.coach.sessions import CoachOutcome, CoachStatus, LogbookEntry, SessionProgress
from app.domain.jobs.usage import Caps


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again later."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Look again at once."""


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    """Make a job that samples the held-out rows and does not train."""

    prompt: str | None
    """System prompt that replaces that of each row; `None` leaves the rows as they are."""


@dataclass(frozen=True, slots=True)
class Train:
    """Make a job that practises slices of the rows."""

    keys: tuple[str, ...]
    caps: Caps


@dataclass(frozen=True, slots=True)
class Propose:
    job_id: str


@dataclass(frozen=True, slots=True)
class Promote:
    skill_id: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for the user."""


@dataclass(frozen=True, slots=True)
class EndSession:
    status: CoachStatus
    outcome: CoachOutcome | None


Action = Wait | Continue | RunMeasurement | Train | Propose | Promote | Pause | EndSession


@dataclass(frozen=True, slots=True)
class SessionStep:
    action: Action
    progress: SessionProgress
    entries: tuple[LogbookEntry, ...] = ()
