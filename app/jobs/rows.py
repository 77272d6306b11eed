"""Jobs, their journals, events, checkpoints and reports as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from sqlalchemy import Select, bindparam, delete, func, inspect, select, true, tuple_, update
from sqlalchemy import Table as CoreTable
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.events.store import log_end, log_job_event
from app.jobs.jobs import (
    Caps,
    Checkpoint,
    EventKind,
    EventLevel,
    Job,
    JobError,
    JobEvent,
    JobHead,
    JobStatus,
    StopRequest,
    Usage,
    may_become,
    read_attached,
)
from app.jobs.methods import stored_method
from app.jobs.tables import CheckpointTable, JournalTable, ReportTable
from app.jobs.tables import FineTuningJobTable as Table
from app.jobs.tables import JobEventTable as Events
from app.jobs.tables import JobMetricTable as Points
from app.kit.errors import NotFound, WrongState
from app.kit.faults import unknown_cursor
from app.kit.ids import Split, new_id
from app.kit.leases import ended_lease
from app.kit.sql import Keyset, ProjectRows, SessionRows, from_row, storable, unix_or_none
from app.models.export_store import checkpoint_dropped
from app.models.store import checkpoint_in_use
from app.rollouts.metrics import MetricPoint
from app.webhooks.events import job_event

JOBS: Final = cast("CoreTable", Table.__table__)
MCP_SERVERS: Final = "mcp_servers"
COLUMNS: Final = [
    JOBS.c[attribute.columns[0].name].label(attribute.key)
    for attribute in inspect(Table).column_attrs
    if attribute.key != "secrets"
]
"""The columns that `whole_job` reads. Selecting columns takes half the time of a mapped object."""


def whole_job(row: Any) -> Job:
    job, listings = to_job(row), row.mcp_listings
    if not listings:
        return job
    servers = [
        {**server, "listing": listings[str(index)]} if str(index) in listings else server
        for index, server in enumerate(job.method.options[MCP_SERVERS])
    ]
    options = {**job.method.options, MCP_SERVERS: servers}
    return replace(job, method=job.method.with_options(options))


def to_job(row: Any) -> Job:
    error = None if row.error is None else JobError(**row.error)
    return from_row(
        Job,
        row,
        status=JobStatus(row.status),
        method=stored_method(row.method),
        metadata=row.job_metadata,
        evals=read_attached(row.evals),
        error=error,
        stop_request=None if row.stop_request is None else StopRequest(row.stop_request),
        caps=Caps(row.max_training_time_s, row.max_rollouts),
        usage=None if row.usage is None else Usage.from_json(row.usage),
    )


def job_row(job: Job, secrets: bytes | None) -> dict[str, Any]:
    same = (
        *("id", "organization_id", "project_id", "key_id", "model", "training_file", "seed"),
        *("validation_file", "suffix", "metadata", "integrations", "result_files", "priority"),
    )
    return {
        **{name: getattr(job, name) for name in same},
        "status": job.status.value,
        "method": job.method.document,
        "secrets": secrets,
        "evals": [each.to_json() for each in job.evals],
        "max_training_time_s": job.caps.max_training_time_s,
        "max_rollouts": job.caps.max_rollouts,
    }


def no_such_job(job_id: str) -> NotFound:
    return NotFound(f"Could not find fine tune: {job_id}", code="fine_tune_not_found")


async def lock_job(session: AsyncSession, job_id: str) -> Table:
    row = await session.scalar(
        select(Table)
        .where(Table.id == job_id, Table.deleted_at.is_(None))
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise no_such_job(job_id)
    return row


async def move_job(
    session: AsyncSession, project_id: str, job_id: str, following: JobStatus, **values: Any
) -> None:
    row = await lock_job(session, job_id)
    current = JobStatus(row.status)
    if not may_become(current, following):
        raise WrongState(f"Job {job_id} is {current.value} and cannot become {following.value}.")
    await session.execute(
        update(Table).where(Table.id == job_id).values(status=following.value, **values)
    )
    event_type = job_event(following)
    if event_type is not None:
        await log_end(session, project_id, event_type=event_type, subject=job_id)


async def pause_job(session: AsyncSession, project_id: str, job_id: str) -> None:
    await move_job(
        session,
        project_id,
        job_id,
        JobStatus.PAUSED,
        stop_request=None,
        estimated_finish=None,
        **ended_lease(),
    )


Entry = tuple[str, str, dict[str, Any]]
"""Key, sha256 of the request, payload."""


class JournalStore(ProjectRows):
    async def get_many(self, job_id: str, step: int) -> dict[str, tuple[str, dict[str, Any]]]:
        rows = await self._session.scalars(
            select(JournalTable).where(JournalTable.job_id == job_id, JournalTable.step == step)
        )
        return {row.key: (row.request_sha256, row.payload) for row in rows}

    async def put_many(self, job_id: str, step: int, entries: Sequence[Entry]) -> None:
        """Writes entries; overwrites an existing key, and the last of two equal keys counts."""
        if not entries:
            return
        values = [
            {
                "project_id": self._project_id,
                "job_id": job_id,
                "step": step,
                "key": key,
                "request_sha256": sha256,
                "payload": payload,
            }
            for key, sha256, payload in entries
        ]
        query = insert(JournalTable)
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[JournalTable.job_id, JournalTable.key],
                set_={
                    "request_sha256": query.excluded.request_sha256,
                    "payload": query.excluded.payload,
                    "step": query.excluded.step,
                },
            ),
            values,
        )

    async def forget(self, job_id: str, upto_step: int) -> None:
        await self._session.execute(
            delete(JournalTable).where(
                JournalTable.job_id == job_id, JournalTable.step <= upto_step
            )
        )

    async def forget_all(self, job_id: str) -> None:
        await self._session.execute(delete(JournalTable).where(JournalTable.job_id == job_id))


_MOST_LINKS = 20
_NEWEST_FIRST = Keyset((Events.seq,), descending=True)
_INSERT = insert(cast("CoreTable", Events.__table__))
_LOCK_JOB = select(Table.id).where(Table.id == bindparam("job")).with_for_update(key_share=True)


def event_row(
    project_id: str, job_id: str, message: str, *, level: EventLevel = "info"
) -> dict[str, Any]:
    return {
        "id": new_id("ftevent-"),
        "project_id": project_id,
        "job_id": job_id,
        "level": level,
        "type": "message",
        "message": storable(message),
        "data": None,
    }


class EventStore(ProjectRows):
    async def append(
        self,
        job_id: str,
        *,
        message: str,
        level: EventLevel = "info",
        type: EventKind = "message",  # noqa: A002 - the wire's own word
        data: dict[str, Any] | None = None,
    ) -> None:
        """Appends an event, and locks the job's row until the transaction ends."""
        await self._session.execute(_LOCK_JOB, {"job": job_id})
        row = event_row(self._project_id, job_id, message)
        row |= {"level": level, "type": type, "data": storable(data)}
        await self._session.execute(_INSERT, row)
        await log_job_event(self._session, row)

    async def append_once(
        self,
        job_id: str,
        *,
        level: EventLevel,
        message: str,
        about: str,
        data: Mapping[str, str] | None = None,
    ) -> bool:
        """Appends a message unless the job has one about the same `about`, a word of the caller's;
        returns whether it did. Locks the job's row, so that two callers append one.
        """
        await self._session.execute(_LOCK_JOB, {"job": job_id})
        said = await self._session.scalar(
            select(Events.id)
            .where(Events.job_id == job_id, Events.data["about"].astext == about)
            .limit(1)
        )
        if said is None:
            whole = {"about": about, **(data or {})}
            await self.append(job_id, level=level, message=message, data=whole)
        return said is None

    async def links(self, job_id: str) -> list[JobEvent]:
        url = Events.data["url"].astext
        query = select(Events).where(Events.job_id == job_id, url.is_not(None)).order_by(Events.seq)
        return [to_event(row) for row in await self._session.scalars(query.limit(_MOST_LINKS))]

    async def page(
        self,
        job_id: str,
        *,
        after: str | None,
        limit: int,
        type: EventKind | None = None,  # noqa: A002 - the wire's own word
    ) -> tuple[list[JobEvent], bool]:
        query = select(Events).where(Events.job_id == job_id)
        if type is not None:
            query = query.where(Events.type == type)
        page, more = await _NEWEST_FIRST.page(
            self._session,
            query,
            after=after,
            cursor=[Events.id == after, Events.job_id == job_id],
            limit=limit,
        )
        return [to_event(row) for row in page], more


def to_event(row: Events) -> JobEvent:
    return from_row(
        JobEvent, row, level=cast("EventLevel", row.level), type=cast("EventKind", row.type)
    )


class StreamStore(SessionRows):
    async def heads(self, job_ids: Sequence[str]) -> dict[str, JobHead]:
        newest = select(func.max(Events.seq)).where(Events.job_id == Table.id).scalar_subquery()
        query = select(Table.id, Table.status, Table.step, Table.estimated_finish, newest).where(
            Table.id.in_(job_ids), Table.deleted_at.is_(None)
        )
        return {
            job_id: JobHead(JobStatus(status), step, unix_or_none(finish), newest or 0)
            for job_id, status, step, finish, newest in await self._session.execute(query)
        }

    async def position(self, job_id: str, event_id: str, *, sent_as: str) -> int:
        query = select(Events.seq).where(Events.job_id == job_id, Events.id == event_id)
        found = await self._session.scalar(query)
        if found is None:
            raise unknown_cursor(event_id, sent_as)
        return found

    async def events(self, job_id: str, *, behind: int, limit: int) -> list[tuple[int, JobEvent]]:
        query = (
            select(Events)
            .where(Events.job_id == job_id, Events.seq > behind)
            .order_by(Events.seq)
            .limit(limit)
        )
        return [(row.seq, to_event(row)) for row in await self._session.scalars(query)]

    async def points(self, job_id: str, steps: Sequence[int]) -> list[MetricPoint]:
        curves = _curves(job_id).subquery()
        query = select(Points).join(
            curves, (Points.name == curves.c.name) & (Points.split == curves.c.split)
        )
        rows = await self._session.scalars(
            query.where(Points.job_id == job_id, Points.step.in_(steps)).order_by(
                Points.step, Points.name, Points.split
            )
        )
        return [
            MetricPoint(row.name, cast("Split", row.split), row.step, row.value) for row in rows
        ]


def _curves(job_id: str) -> Select[tuple[str, str]]:
    curve_key = (Points.name, Points.split)
    first = select(*curve_key).where(Points.job_id == job_id).order_by(*curve_key).limit(1)
    found = select(first.subquery()).cte("curves", recursive=True)
    following = (
        select(*curve_key)
        .where(Points.job_id == job_id, tuple_(*curve_key) > tuple_(found.c.name, found.c.split))
        .order_by(*curve_key)
        .limit(1)
        .lateral()
    )
    found = found.union_all(select(following).select_from(found.join(following, true())))
    return select(found.c.name, found.c.split)


class ReportStore(ProjectRows):
    async def upsert(self, job_id: str, report: dict[str, Any]) -> None:
        query = insert(ReportTable).values(
            project_id=self._project_id, job_id=job_id, report=storable(report)
        )
        await self._session.execute(
            query.on_conflict_do_update(
                index_elements=[ReportTable.project_id, ReportTable.job_id],
                set_={"report": query.excluded.report},
            )
        )

    async def get(self, job_id: str) -> dict[str, Any] | None:
        return await self._session.scalar(
            select(ReportTable.report).where(ReportTable.job_id == job_id)
        )


_LATEST_STEP_FIRST = Keyset((CheckpointTable.step,), descending=True)


class CheckpointStore(ProjectRows):
    async def insert(self, checkpoint: Checkpoint, *, object_key: str) -> None:
        """Inserts the checkpoint of a step; does nothing when the step has one already."""
        await self._session.execute(
            insert(CheckpointTable)
            .values(
                id=checkpoint.id,
                project_id=self._project_id,
                job_id=checkpoint.job_id,
                step=checkpoint.step,
                model_name=checkpoint.model_name,
                object_key=object_key,
                metrics=storable(checkpoint.metrics),
            )
            .on_conflict_do_nothing(index_elements=[CheckpointTable.job_id, CheckpointTable.step])
        )

    async def object_keys(self, job_id: str) -> frozenset[str]:
        return frozenset((await self.kept(job_id)).values())

    async def kept(self, job_id: str) -> dict[int, str]:
        query = select(CheckpointTable.step, CheckpointTable.object_key).where(
            CheckpointTable.job_id == job_id, ~checkpoint_dropped()
        )
        return {row.step: row.object_key for row in await self._session.execute(query)}

    async def all(self, job_id: str) -> list[Checkpoint]:
        query = (
            select(CheckpointTable)
            .where(CheckpointTable.job_id == job_id)
            .order_by(CheckpointTable.step)
        )
        return [_to_checkpoint(row) for row in await self._session.scalars(query)]

    async def needed(self, job_id: str) -> frozenset[int]:
        query = select(CheckpointTable.step).where(
            CheckpointTable.job_id == job_id, checkpoint_in_use()
        )
        return frozenset(await self._session.scalars(query))

    async def page(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[Checkpoint], bool]:
        """Leaves out dropped checkpoints; a page may still begin after one."""
        page, more = await _LATEST_STEP_FIRST.page(
            self._session,
            select(CheckpointTable).where(CheckpointTable.job_id == job_id, ~checkpoint_dropped()),
            after=after,
            cursor=[CheckpointTable.id == after, CheckpointTable.job_id == job_id],
            limit=limit,
        )
        return [_to_checkpoint(row) for row in page], more


def _to_checkpoint(row: CheckpointTable) -> Checkpoint:
    return from_row(Checkpoint, row)
