"""Reads the points of a job's curves for clients: thinned to a number of them, or all as a file.

Pages read outlines instead (`curves.py`).
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import groupby
from typing import Final

from app.domain.accounts.tenants import Tenant
from app.domain.ids import Split
from app.domain.jobs.curves.curve_parts import check_parts
from app.domain.rollouts.metrics import MetricPoint
from app.store.database import Database

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
