"""Users read and change jobs that exist, see their curves, and have files validated early.

A free worker validates a new job's files itself; a claim takes precedence over this service.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import replace
from itertools import groupby
from typing import Final, assert_never
from weakref import WeakValueDictionary

import structlog

from app.database import Database, UnitOfWork
from app.files.row_files import Inspections
from app.jobs import reinforcement, supervised
from app.jobs.call_checks import inspection_request
from app.jobs.findings import (
    CurvesOfJob,
    OutlinedCurves,
    block_size,
    check_parts,
    curves_of_findings,
    edge_points,
    reductions_of,
    watched_by,
)
from app.jobs.jobs import (
    FILES_VALIDATED,
    NO_CAPS,
    Caps,
    Checkpoint,
    EventKind,
    Job,
    JobError,
    JobEvent,
    JobStatus,
    QueuePosition,
    StopRequest,
    validating_message,
)
from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.jobs.preflight import DatasetReport
from app.jobs.results import result_file
from app.kit.callers import Tenant
from app.kit.errors import AgentRftError, Unavailable
from app.kit.ids import Split
from app.kit.job_queue import JobQueue
from app.kit.objects import Objects, put_bytes
from app.models.models import BaseModelSpec, base_of
from app.rollouts.metrics import MetricPoint

Positions = Callable[[list[str]], Awaitable[dict[str, QueuePosition]]]
_WAITING: Final = frozenset({JobStatus.VALIDATING_FILES, JobStatus.QUEUED})


async def with_queue_position(job: Job, positions: Positions) -> Job:
    return (await with_queue_positions([job], positions))[0]


async def with_queue_positions(jobs: list[Job], positions: Positions) -> list[Job]:
    """Makes one query for any number of jobs, and none if no job waits."""
    waiting = [job.id for job in jobs if job.status in _WAITING]
    if not waiting:
        return jobs
    found = await positions(waiting)
    return [replace(job, queue=found.get(job.id)) for job in jobs]


class EventService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def page(
        self, job_id: str, *, after: str | None, limit: int, kind: EventKind | None = None
    ) -> tuple[list[JobEvent], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.events.page(job_id, after=after, limit=limit, type=kind)

    async def checkpoints(
        self, job_id: str, *, after: str | None, limit: int
    ) -> tuple[list[Checkpoint], bool]:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await unit.checkpoints.page(job_id, after=after, limit=limit)

    async def tracker_links(self, job_id: str) -> list[tuple[str, str]]:
        async with self._database.tenant(self._tenant) as unit:
            events = await unit.events.links(job_id)
        found = [event.data or {} for event in events]
        return [(str(one.get("tracker")), str(one["url"])) for one in found]


log = structlog.get_logger()


class JobService:
    def __init__(
        self, database: Database, queue: JobQueue, objects: Objects, *, tenant: Tenant
    ) -> None:
        self._database = database
        self._queue = queue
        self._objects = objects
        self._tenant = tenant
        self._jobs = database.jobs(tenant)

    async def get(self, job_id: str) -> Job:
        return await with_queue_position(await self._jobs.get(job_id), self._jobs.queue_positions)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        metadata: dict[str, str] | None = None,
        without_metadata: bool = False,
        status: JobStatus | None = None,
    ) -> tuple[list[Job], bool]:
        async with self._database.tenant(self._tenant) as unit:
            jobs, more = await unit.jobs.page(
                after=after,
                limit=limit,
                metadata=metadata,
                without_metadata=without_metadata,
                status=status,
            )
        return await with_queue_positions(jobs, self._jobs.queue_positions), more

    async def owners(self, jobs: Sequence[Job]) -> dict[str, str]:
        async with self._database.organization(self._tenant.organization_id) as unit:
            names = await unit.keys.names(self._tenant.project_id, {job.key_id for job in jobs})
        return {job.id: names[job.key_id] for job in jobs if job.key_id in names}

    async def cancel(self, job_id: str) -> Job:
        return await self._stop(job_id, StopRequest.CANCEL)

    async def pause(self, job_id: str) -> Job:
        return await self._stop(job_id, StopRequest.PAUSE)

    async def resume(self, job_id: str, caps: Caps = NO_CAPS) -> Job:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.mark_queued(job_id, caps)
            await unit.events.append(job_id, message="Fine-tuning job resumed")
            unit.after_commit(lambda: self._queue.enqueue_run(job_id))
        return await self.get(job_id)

    async def delete(self, job_id: str) -> None:
        """Raises `WrongState` for a job that has not ended, or whose checkpoints are in use."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.delete(job_id)

    async def _stop(self, job_id: str, request: StopRequest) -> Job:
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.request_stop(job_id, request)
            if job.status is JobStatus.CANCELLED and job.step > 0:
                job = await self._with_result_file(unit, job)
            unit.after_end(self._queue.enqueue_deliveries)
            if job.status in (JobStatus.CANCELLED, JobStatus.PAUSED):
                message = f"Fine-tuning job {job.status.value}"
                await unit.events.append(job_id, level="info", message=message)
        return job

    async def _with_result_file(self, unit: UnitOfWork, job: Job) -> Job:
        points = await unit.metrics.curve(job.id, names=None, split=None, after_step=0)
        made = result_file(job, points)
        if made is None:
            return job
        row, content = made
        try:
            await put_bytes(self._objects, row.object_key, content)
        except Unavailable as error:  # a full disk must not keep a job running
            log.warning("no result file written", job_id=job.id, error=str(error))
            return job
        await unit.files.insert(row)
        await unit.jobs.set_result_files(job.id, [row.id])
        return replace(job, result_files=[row.id])


_BATCH: Final = 5_000


class CurveService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def thinned(
        self,
        job_id: str,
        *,
        names: list[str] | None,
        split: Split | None,
        after_step: int | None,
        max_points: int,
    ) -> list[list[MetricPoint]]:
        """Returns one list per (name, split), by step. Raises `InvalidRequest` for the curve of a
        tool, child of the grader or component that the job does not have.
        """
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(job_id)
            points = await unit.metrics.thinned(
                job_id, names=names, split=split, after_step=after_step, max_points=max_points
            )
            empty = set(names or ()) - {point.name for point in points}
            if empty:
                check_parts(sorted(empty), job.method, await unit.metrics.names(job_id))
        grouped = groupby(points, key=lambda point: (point.name, point.split))
        return [list(curve) for _, curve in grouped]

    async def export(
        self,
        job_id: str,
        *,
        names: list[str] | None,
        split: Split | None,
        check: Callable[[], Awaitable[object]],
    ) -> AsyncGenerator[list[MetricPoint], None]:
        """Yields all points by name, split and step. `check` is called before each further read and
        raises `AuthenticationFailed` once the caller has lost access. Raises the errors of
        `thinned`.
        """
        last: MetricPoint | None = None
        while True:
            async with self._database.tenant(self._tenant) as unit:
                job = await unit.jobs.get(job_id)
                if last is None and names is not None:
                    have = await unit.metrics.names(job_id)
                    check_parts(sorted(set(names) - have), job.method, have)
                points = await unit.metrics.batch(
                    job_id, names=names, split=split, behind=last, limit=_BATCH
                )
            if points:
                last = points[-1]
                yield points
            if len(points) < _BATCH:
                return
            await check()

    async def outlined(self, job_id: str, names: Sequence[str] | None = None) -> OutlinedCurves:
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await _outlined(unit, job_id, names)

    async def of_job(self, job: Job) -> CurvesOfJob:
        async with self._database.tenant(self._tenant) as unit:
            outlined, count = await _outlined(unit, job.id, None), edge_points(job.method)
            wanted = curves_of_findings(job.method, {one.name for one in outlined.summaries})
            long = [one for one in outlined.summaries if one.is_long and one.name in wanted]
            edged = [one.key for one in long if one.split == "train" and one.points > 2 * count]
            whole = [one.key for one in long if one.key not in edged]
            reductions = reductions_of(job.method) if edged else {}
            steps: Sequence[int] = ()
            if reductions:
                steps = await unit.outlines.steps(job.id, (watched_by(job.method).valid, "valid"))
            return CurvesOfJob(
                outlined,
                await unit.outlines.edges(job.id, edged, count=count),
                await unit.outlines.whole(job.id, whole),
                await unit.outlines.between(job.id, steps, reductions),
                count,
            )

    async def ends(
        self, job_ids: Sequence[str], names: Sequence[str]
    ) -> dict[str, list[MetricPoint]]:
        """Returns the first and the last point of each curve, by job; of one point only it."""
        async with self._database.tenant(self._tenant) as unit:
            summaries = await unit.outlines.summaries(job_ids, names)
        found: dict[str, list[MetricPoint]] = {}
        for one in summaries:
            found.setdefault(one.job_id, []).extend(one.ends)
        return found


async def _outlined(unit: UnitOfWork, job_id: str, names: Sequence[str] | None) -> OutlinedCurves:
    summaries = await unit.outlines.summaries([job_id], names)
    size = block_size(summaries)
    long = [one.key for one in summaries if one.is_long]
    short = [one.key for one in summaries if not one.is_long]
    outlines = await unit.outlines.outlines(job_id, long, size=size)
    return OutlinedCurves([*outlines, *await unit.outlines.whole(job_id, short)], summaries)


class FileValidation:
    def __init__(
        self,
        database: Database,
        queue: JobQueue,
        inspections: Inspections,
        *,
        base_models: tuple[BaseModelSpec, ...],
        after_s: float,
    ) -> None:
        self._database = database
        self._queue = queue
        self._inspections = inspections
        self._base_models = base_models
        self._after_s = after_s
        self._tasks = set[asyncio.Task[None]]()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def start(self, tenant: Tenant, job_id: str) -> None:
        # In a context of its own: the transaction of the request has ended.
        task = asyncio.create_task(self._validate_later(tenant, job_id), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _validate_later(self, tenant: Tenant, job_id: str) -> None:
        await asyncio.sleep(self._after_s)
        lock = self._locks.setdefault(tenant.project_id, asyncio.Lock())
        try:
            async with lock:
                await self.validate(tenant, job_id)
        except AgentRftError as error:
            log.warning("files left to a worker", job_id=job_id, error=str(error))
        except Exception:
            log.exception("files left to a worker", job_id=job_id)

    async def validate(self, tenant: Tenant, job_id: str) -> None:
        """Changes the job's state unless a worker has claimed it meanwhile."""
        async with self._database.tenant(tenant) as unit:
            job = await unit.jobs.lock_unvalidated(job_id)
            if job is None:
                return
            keys = [
                None if file_id is None else (await unit.files.get(file_id)).object_key
                for file_id in (job.training_file, job.validation_file)
            ]
        report = await self._inspect(tenant, job, keys)
        fault = next((found for found in report.issues if found.severity == "error"), None)
        async with self._database.tenant(tenant) as unit:
            current = await unit.jobs.lock_unvalidated(job_id)
            if current is None:
                return
            await unit.events.append(job_id, message=validating_message(job))
            if fault is None:
                await unit.jobs.mark_validated(job_id, *self._resolved(current, report))
                await unit.events.append(job_id, message=FILES_VALIDATED)
                for warning in report.warnings:
                    await unit.events.append(job_id, level="warn", message=warning)
                return
            message, data = fault.message, {"error_code": fault.code, "error_param": fault.param}
            if fault.code in ("invalid_training_file", "invalid_validation_file"):
                message = f"Invalid file format. {message}"
            await unit.events.append(job_id, level="error", message=message, data=data)
            await unit.jobs.mark_invalid(job_id, JobError(fault.code, message, fault.param))
            unit.after_end(self._queue.enqueue_deliveries)

    async def _inspect(self, tenant: Tenant, job: Job, keys: list[str | None]) -> DatasetReport:
        from app.jobs.dataset_checks import inspect  # noqa: PLC0415 - tokenizers and templates

        async with self._inspections.copies(keys) as (training, validation):
            base = base_of(self._base_models, job.model)
            request = inspection_request(
                {"method": job.method.document}, base, training=training, validation=validation
            )
            return await self._inspections.run(tenant, inspect, request)

    def _resolved(self, job: Job, report: DatasetReport) -> tuple[int, StoredMethod]:
        base = base_of(self._base_models, job.model)
        rows = 0 if report.training is None else report.training.rows
        if base is None:
            raise LookupError(f"{job.model} has no base model any more")
        stored = job.method
        match stored:
            case StoredReinforcementMethod():
                values = reinforcement.resolve_hyperparameters(
                    stored.parse(), train_rows=rows, base_model=base
                )
                options = reinforcement.resolved_options(stored.options, values, base)
                return values.total_steps, stored.with_options(options)
            case StoredSupervisedMethod() | StoredDpoMethod():
                plan = supervised.resolve_supervised_hyperparameters(
                    stored.parse(), train_rows=rows, base_model=base
                )
                options = supervised.resolved_options(stored.options, stored.kind, rows)
                return plan.total_steps, stored.with_options(options)
            case _:
                assert_never(stored)
