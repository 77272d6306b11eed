"""Stores a run's result file, the CSV of all curves, before the transaction that ends the job and
lists it.
"""

from app.domain.data.files import FileRow
from app.domain.jobs.result_files import result_file
from app.domain.rollouts.metrics import MetricPoint
from app.gateways.objects import put_bytes
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.step_outcome import StepOutcome


async def write_result_file(
    context: RunContext, *, lost: StepOutcome | None = None
) -> FileRow | None:
    """Returns the file's row, which the caller inserts; `None` if no step has points. Writing again
    changes nothing. `lost`: the step that ends the job, whose points are written with the end.
    Raises `LeaseLost` and `Unavailable`.
    """

    async def read() -> list[MetricPoint]:
        async with context.unit() as unit:
            return await unit.metrics.curve(context.job.id, names=None, split=None, after_step=0)

    committed = await retry_while_unavailable(read)
    made = result_file(context.job, [*committed, *([] if lost is None else lost.points())])
    if made is None:
        return None
    row, content = made
    await put_bytes(context.objects, row.object_key, content)
    return row
