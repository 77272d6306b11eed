"""Reads the curves of jobs for pages: outlines to draw, and what findings need of long curves.

Clients of the API get points (`curve_points.py`).
"""

from collections.abc import Sequence

from app.domain.accounts.tenants import Tenant
from app.domain.jobs.curves.outlines import OutlinedCurves, block_size
from app.domain.jobs.findings.curves_of_job import CurvesOfJob
from app.domain.jobs.findings.findings import curves_of_findings, reductions_of, watched_by
from app.domain.jobs.findings.rule_findings import edge_points
from app.domain.jobs.jobs import Job
from app.domain.rollouts.metrics import MetricPoint
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork


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
