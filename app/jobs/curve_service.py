"""Reads the points of a job's curves for clients: thinned to a number of them, or all as a file.

Pages read outlines instead (`curves.py`).
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from itertools import groupby
from typing import Final

from app.database import Database, UnitOfWork
from app.jobs.curves import OutlinedCurves, block_size, check_parts
from app.jobs.findings import (
    CurvesOfJob,
    curves_of_findings,
    edge_points,
    reductions_of,
    watched_by,
)
from app.jobs.jobs import Job
from app.kit.callers import Tenant
from app.kit.ids import Split
from app.rollouts.metrics import MetricPoint

_BATCH: Final = 5_000
"""Number of points in one read of an export."""


class CurvePointService:
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
        """Returns one list per (name, split), ordered by step and at most `max_points` long. Raises
        `InvalidRequest` for the curve of a tool, child of the grader or component that the job does
        not have.
        """
        async with self._database.tenant(self._tenant) as unit:
            job = await unit.jobs.get(job_id)
            points = await unit.metrics.thinned(
                job_id,
                names=names,
                split=split,
                after_step=after_step,
                max_points=max_points,
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


class CurveService:
    def __init__(self, database: Database, tenant: Tenant) -> None:
        self._database = database
        self._tenant = tenant

    async def outlined(self, job_id: str, names: Sequence[str] | None = None) -> OutlinedCurves:
        """Returns the curves for charts: all of them, unless some are named."""
        async with self._database.tenant(self._tenant) as unit:
            await unit.jobs.get(job_id)
            return await _outlined(unit, job_id, names)

    async def of_job(self, job: Job) -> CurvesOfJob:
        """Returns the curves for the charts and the findings of a job."""
        async with self._database.tenant(self._tenant) as unit:
            return await _of_job(unit, job, await _outlined(unit, job.id, None))

    async def ends(
        self, job_ids: Sequence[str], names: Sequence[str]
    ) -> dict[str, list[MetricPoint]]:
        """Returns the first and the last point of each of these curves, by job. A curve of one
        point has it once.
        """
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


async def _of_job(unit: UnitOfWork, job: Job, outlined: OutlinedCurves) -> CurvesOfJob:
    count = edge_points(job.method)
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
