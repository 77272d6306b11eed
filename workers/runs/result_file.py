"""A run's result file: the curves of what is committed, stored before the transaction that ends the
job and lists it.
"""

from app.domain.data.files import FileRow
from app.domain.rollouts.metrics import MetricPoint
from app.gateways.result_files import store_result_file
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext


async def write_result_file(context: RunContext) -> FileRow | None:
    """`None` before the first step. The row is the caller's to insert. Writing again changes
    nothing. Raises `LeaseLost` and `Unavailable`.
    """

    async def read() -> list[MetricPoint]:
        async with context.unit() as unit:
            return await unit.metrics.curve(context.job.id, names=None, split=None, after_step=0)

    return await store_result_file(
        context.objects, context.job, await retry_while_unavailable(read)
    )
