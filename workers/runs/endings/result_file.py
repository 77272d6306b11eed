"""Stores a run's result file, the CSV of all curves, before the transaction that ends the job and
lists it.
"""

from collections.abc import Callable

from app.domain.data.files import FileRow
from app.domain.jobs.jobs import Job
from app.domain.jobs.result_files import result_file
from app.domain.rollouts.metrics import MetricPoint
from app.gateways.objects import Objects, put_bytes
from app.store.unit_of_work import RunUnitOfWork
from workers.processes.retry import retry_while_unavailable
from workers.runs.steps.step_outcome import StepOutcome


async def write_result_file(
    unit_of: Callable[[], RunUnitOfWork],
    objects: Objects,
    job_id: str,
    *,
    lost: StepOutcome | None = None,
) -> FileRow | None:
    """Returns the file's row, which the caller inserts; `None` if no step has points. Writing again
    changes nothing. `lost`: the step that ends the job, whose points are written with the end.
    Raises `LeaseLost` and `Unavailable`.
    """

    async def read() -> tuple[Job, list[MetricPoint]]:
        async with unit_of() as unit:
            points = await unit.metrics.curve(job_id, names=None, split=None, after_step=0)
            return await unit.jobs.get(job_id), points

    job, committed = await retry_while_unavailable(read)
    made = result_file(job, [*committed, *([] if lost is None else lost.points())])
    if made is None:
        return None
    row, content = made
    await put_bytes(objects, row.object_key, content)
    return row
