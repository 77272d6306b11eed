"""The log of committed events, and the cursors of its consumers."""

from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from sqlalchemy import BigInteger, Identity, Index, PrimaryKeyConstraint, func, insert
from sqlalchemy import Table as CoreTable
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.ids import new_id
from app.kit.leases import FencedRow
from app.kit.sql import Base, Timestamp, of_project
from app.webhooks.events import EventType

JobEventType = Literal["job.message", "job.metrics"]
KEEP_LOG_S: Final = 7 * 24 * 3600.0
"""Retention of an event, read or not: a consumer that is away for less time misses none."""


@dataclass(frozen=True, slots=True)
class CommittedEvent:
    position: int
    """Rises in commit order, so that no event appears before the cursor of a reader."""
    id: str
    project_id: str
    type: str
    subject: str
    data: dict[str, Any]
    """Level, message and data of a job's event. Empty for the end of a job or of a run."""
    created_at: float
    """Unix seconds."""


class EventLogTable(Base):
    __tablename__ = "event_log"
    __table_args__ = (
        of_project(),
        Index(
            "ix_event_log_position",
            "position",
            unique=True,
            postgresql_where="position IS NOT NULL",
        ),
        Index("ix_event_log_unsequenced", "seq", postgresql_where="position IS NULL"),
    )

    seq: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    """Order of writing. Transactions commit in another order, so a cursor must not use it."""
    id: Mapped[str]
    project_id: Mapped[str]
    type: Mapped[str]
    subject: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[Timestamp] = mapped_column(server_default=func.clock_timestamp())
    position: Mapped[int | None] = mapped_column(BigInteger)
    """The sequencer assigns it once the row is committed."""


class EventCursorTable(FencedRow, Base):
    __tablename__ = "event_cursors"
    __table_args__ = (PrimaryKeyConstraint("consumer", "scope"),)

    consumer: Mapped[str]
    scope: Mapped[str]
    """Id of the project or of the job whose events are read, or `*` for the events of all projects.
    """
    position: Mapped[int] = mapped_column(BigInteger, server_default="0")


_INSERT = insert(cast("CoreTable", EventLogTable.__table__)).inline()  # returns no key
_WROTE_END: Final = "end_event_logged"
_JOB_EVENT_TYPES: Final[dict[str, JobEventType]] = {
    "message": "job.message",
    "metrics": "job.metrics",
}


def wrote_end(session: AsyncSession) -> bool:
    return _WROTE_END in session.info


async def log_end(
    session: AsyncSession, project_id: str, *, event_type: EventType, subject: str
) -> None:
    session.info[_WROTE_END] = True
    row = {
        "id": new_id("evt_"),
        "project_id": project_id,
        "type": event_type,
        "subject": subject,
        "data": {},
    }
    await session.execute(_INSERT, row)


async def log_job_event(session: AsyncSession, job_event: dict[str, Any]) -> None:
    await session.execute(_INSERT, job_event_row(job_event))


def job_event_row(job_event: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": job_event["id"],
        "project_id": job_event["project_id"],
        "type": _JOB_EVENT_TYPES[job_event["type"]],
        "subject": job_event["job_id"],
        "data": {name: job_event[name] for name in ("level", "message", "data")},
    }
