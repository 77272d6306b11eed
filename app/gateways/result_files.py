"""Stores a job's result file; its row is the caller's to insert, with what ends the job."""

from collections.abc import AsyncIterator, Sequence

from app.domain.data.files import FileRow
from app.domain.jobs.jobs import Job
from app.domain.jobs.result_files import result_file
from app.domain.rollouts.metrics import MetricPoint
from app.gateways.objects import Objects


async def store_result_file(
    objects: Objects, job: Job, points: Sequence[MetricPoint]
) -> FileRow | None:
    """Write the CSV of a job's curves; `None` before the first step. Raises `Unavailable` on a full
    disk.
    """
    made = result_file(job, points)
    if made is None:
        return None
    row, content = made

    async def whole() -> AsyncIterator[bytes]:
        yield content

    await objects.put(row.object_key, whole())
    return row
