"""Marks files, jobs, checkpoints and rollouts that an operator's retention settings end.

Only marks rows: `expiry` removes expired files with their bytes, and `ended_jobs` the remaining
rows and objects of ended jobs. Verbs on jobs mark one job each, so that no transaction locks many
rows.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, assert_never

from sqlalchemy import ColumnElement, Select, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import NotFound, WrongState
from app.domain.evals.evals import OPEN_RUNS
from app.domain.jobs.jobs import ENDED
from app.store.across_tenants import set_tenant
from app.store.jobs.checkpoints import CheckpointStore
from app.store.jobs.deletion import delete_job
from app.store.jobs.events import EventStore
from app.store.schema.eval_runs import EvalRunTable as EvalRun
from app.store.schema.files import FileTable as File
from app.store.schema.jobs import FineTuningJobTable as Job

RetainedKind = Literal["jobs", "checkpoints", "rollouts"]
_SECONDS_OF_A_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class AgedJob:
    project_id: str
    job_id: str
    finished_at: datetime


class RetentionStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def expire_files(self, limit: int, *, days: float) -> int:
        """Expires files of that age, except those that a job or an eval run still reads. Returns
        their number.
        """
        job = select(Job.id).where(
            Job.project_id == File.project_id,
            Job.status.not_in(ENDED),
            or_(Job.training_file == File.id, Job.validation_file == File.id),
        )
        run = select(EvalRun.id).where(
            EvalRun.project_id == File.project_id,
            EvalRun.status.in_(OPEN_RUNS),
            EvalRun.data_source["source"]["id"].astext == File.id,
        )
        aged = (
            select(File.project_id, File.id)
            .where(
                File.created_at <= _before(days),
                File.deleted_at.is_(None),
                or_(File.expires_at.is_(None), File.expires_at > func.now()),
                ~job.exists(),
                ~run.exists(),
            )
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        expired = await self._session.execute(
            update(File)
            .where(tuple_(File.project_id, File.id).in_(aged))
            .values(expires_at=func.now())
            .returning(File.id)
        )
        return len(expired.all())

    async def aged(
        self, kind: RetainedKind, limit: int, *, days: float, after: AgedJob | None
    ) -> list[AgedJob]:
        """Returns ended jobs of that age whose `kind` is not marked yet, oldest first, starting
        after `after`.
        """
        query = _of(kind).where(Job.finished_at <= _before(days))
        if after is not None:
            query = query.where(
                tuple_(Job.finished_at, Job.id) > tuple_(after.finished_at, after.job_id)
            )
        rows = await self._session.execute(query.order_by(Job.finished_at, Job.id).limit(limit))
        return [
            AgedJob(project_id, job_id, finished_at)
            for project_id, job_id, finished_at in rows
            if finished_at is not None  # the query asks for it; the type does not say so
        ]

    async def mark(self, kind: RetainedKind, job: AgedJob, *, days: float) -> bool:
        """Marks one job. Returns False for one whose checkpoints are all in use."""
        await set_tenant(self._session, job.project_id)
        match kind:
            case "jobs":
                return await self._delete(job)
            case "checkpoints":
                return await self._drop_checkpoints(job, days)
            case "rollouts":
                return await self._delete_rollouts(job, days)
            case _:
                assert_never(kind)

    async def _delete(self, job: AgedJob) -> bool:
        try:
            await delete_job(self._session, job.job_id)
        except (NotFound, WrongState):
            return False
        return True

    async def _drop_checkpoints(self, job: AgedJob, days: float) -> bool:
        """Drops the checkpoints that are not in use; the published model is kept."""
        checkpoints = CheckpointStore(self._session, job.project_id)
        kept, needed = await checkpoints.kept(job.job_id), await checkpoints.needed(job.job_id)
        left = sorted(needed & kept.keys())
        if len(left) == len(kept) and kept:
            return False
        await self._change(job, kept_checkpoints=left)
        if kept:
            await self._append_event(job, f"{len(kept) - len(left)} checkpoints were removed", days)
        return bool(kept)

    async def _delete_rollouts(self, job: AgedJob, days: float) -> bool:
        await self._change(job, rollouts_deleted_at=func.now())
        await self._append_event(job, "The rollouts were removed", days)
        return True

    async def _change(self, job: AgedJob, **values: Any) -> None:
        await self._session.execute(
            update(Job)
            .where(Job.project_id == job.project_id, Job.id == job.job_id)
            .values(clean_after=func.now(), **values)
        )

    async def _append_event(self, job: AgedJob, what: str, days: float) -> None:
        events = EventStore(self._session, job.project_id)
        message = f"{what}: the operator keeps them for {days:g} days after the end of a job."
        await events.append(job.job_id, level="info", type="message", message=message)


def _before(days: float) -> ColumnElement[Any]:
    return func.now() - timedelta(seconds=days * _SECONDS_OF_A_DAY)


def _of(kind: RetainedKind) -> Select[str, str, datetime | None]:
    query = select(Job.project_id, Job.id, Job.finished_at).where(
        Job.status.in_(ENDED), Job.deleted_at.is_(None), Job.finished_at.is_not(None)
    )
    match kind:
        case "jobs":
            return query
        case "checkpoints":
            return query.where(
                Job.step > 0,
                or_(
                    Job.kept_checkpoints.is_(None),
                    func.jsonb_array_length(Job.kept_checkpoints) > 0,
                ),
            )
        case "rollouts":
            return query.where(Job.started_at.is_not(None), Job.rollouts_deleted_at.is_(None))
        case _:
            assert_never(kind)
