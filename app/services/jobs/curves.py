"""Reads the curves of jobs for pages: outlines to draw, and what findings need of long curves."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.accounts.tenants import Tenant
from app.domain.jobs.curves.curves import Curve, Curves
from app.domain.jobs.curves.outlines import CurveKey, CurveSummary, block_size
from app.domain.jobs.findings.findings import curves_of_findings, reductions_of, watched_by
from app.domain.jobs.findings.rule_findings import NO_GAPS, CurveGaps, edge_points
from app.domain.jobs.jobs import Job
from app.domain.rollouts.metrics import MetricPoint, PackedCurve
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class OutlinedCurves:
    """Curves for charts, each whole or as an outline, packed."""

    packed: Sequence[PackedCurve]
    summaries: Sequence[CurveSummary]

    def read(self) -> dict[CurveKey, dict[int, float]]:
        """Parses the curves. An outline gets the first point of its curve."""
        first = {one.key: one.first for one in self.summaries}
        read: dict[CurveKey, dict[int, float]] = {}
        for one in self.packed:
            start = first[one.name, one.split]
            read[one.name, one.split] = {start.step: start.value, **one.read()}
        return read

    @property
    def every(self) -> dict[str, int]:
        """Steps between two points that outlines of training share, by name of the curve."""
        return {one.name: one.every for one in self.packed if one.split == "train"}


@dataclass(frozen=True, slots=True)
class CurvesOfJob:
    """The curves for charts of a job, and what findings read instead of the outlines, packed."""

    outlined: OutlinedCurves
    edges: Sequence[PackedCurve]
    whole: Sequence[PackedCurve]
    between: Sequence[PackedCurve]
    count: int
    """First points, and last ones, of each edge."""

    def read(self, outlines: Curves) -> tuple[Curves, CurveGaps]:
        """Returns the curves of findings, given the outlines, of which those of short curves are
        whole.
        """
        whole = {**outlines, **_read(self.whole)}
        if not self.edges:
            return whole, NO_GAPS
        edges = _read(self.edges)
        ends = {name: sorted(curve)[self.count] for (name, _), curve in edges.items()}
        between: dict[str, Curve] = {one.name: one.read() for one in self.between}
        return {**whole, **edges}, CurveGaps(ends, between)

    def ends(self, names: Collection[str]) -> list[MetricPoint]:
        """Returns the first and the last point of each of these curves."""
        return [point for one in self.outlined.summaries if one.name in names for point in one.ends]


def _read(packed: Sequence[PackedCurve]) -> Curves:
    return {(one.name, one.split): one.read() for one in packed}


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
