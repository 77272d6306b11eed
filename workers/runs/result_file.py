"""Stores a run's result file, the CSV of all committed curves, before the transaction that ends the
job and lists it.
"""

from app.domain.data.files import FileRow
from app.domain.jobs.result_files import result_file
from app.domain.rollouts.metrics import MetricPoint
from app.gateways.objects import put_bytes
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


async def write_result_file(context: RunContext) -> FileRow | None:
    """Returns the file's row, which the caller inserts; `None` before the first step. Writing again
    changes nothing. Raises `LeaseLost` and `Unavailable`.
    """

    async def read() -> list[MetricPoint]:
        async with context.unit() as unit:
            return await unit.metrics.curve(context.job.id, names=None, split=None, after_step=0)

    made = result_file(context.job, await retry_while_unavailable(read))
    if made is None:
        return None
    row, content = made
    await put_bytes(context.objects, row.object_key, content)
    return row
