"""Appends committed events to the log, in the transaction of the change that they announce.

Owns the shape of a logged row. Promises that an event exists exactly if its change was committed.
Must not know the readers of the log.
"""

from typing import Any, Final, cast

from sqlalchemy import Table as CoreTable
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.events.log import JobEventType
from app.domain.events.webhooks import EventType
from app.domain.ids import new_id
from app.store.schema.event_log import EventLogTable

_INSERT = insert(cast("CoreTable", EventLogTable.__table__)).inline()  # returns no key
_WROTE_END: Final = "end_event_logged"
_JOB_EVENT_TYPES: Final[dict[str, JobEventType]] = {
    "message": "job.message",
    "metrics": "job.metrics",
}


def wrote_end(session: AsyncSession) -> bool:
    """Returns true once the transaction has logged the end of a job or a run, which webhooks
    announce.
    """
    return _WROTE_END in session.info


async def log_end(
    session: AsyncSession, project_id: str, *, event_type: EventType, subject: str
) -> None:
    """Logs that a job or an eval run has ended."""
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
    """Logs an event of a job's own list. `job_event`: its row, by column."""
    await session.execute(_INSERT, job_event_row(job_event))


def job_event_row(job_event: dict[str, Any]) -> dict[str, Any]:
    """Returns the logged row, by column, of an event of a job's own list; it has the same id."""
    return {
        "id": job_event["id"],
        "project_id": job_event["project_id"],
        "type": _JOB_EVENT_TYPES[job_event["type"]],
        "subject": job_event["job_id"],
        "data": {name: job_event[name] for name in ("level", "message", "data")},
    }
