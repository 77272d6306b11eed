"""Jobs of methods that are not trained here: their files are checked for real, then the job ends
with the reason.
"""

from typing import Any, NoReturn

from app.domain.errors import RunFailed
from app.domain.tuning_methods import MethodType, resolved
from workers.runs.context import RunContext
from workers.runs.data import count_rows
from workers.runs.patience import patiently
from workers.runs.reporter import VALIDATED, Reporter


async def check_and_refuse(context: RunContext, reporter: Reporter) -> NoReturn:
    """Raises `RunFailed`: for the first fault of a file, or because the method is not trained."""
    job = context.job
    kind: MethodType = job.method["type"]
    if kind == "reinforcement":
        raise ValueError("reinforcement jobs are trained")
    await reporter.say_validating()
    rows = await count_rows(context, kind, training=True)
    if job.validation_file is not None:
        await count_rows(context, kind, training=False)
    method: dict[str, Any] = resolved(job.method, kind, rows)

    async def mark() -> None:
        async with context.unit() as unit:
            await unit.jobs.mark_validated(None, method)

    await patiently(mark)
    await reporter.say_once(VALIDATED)
    raise RunFailed(
        f"Training by the method '{kind}' is not available for the base model {job.model}. "
        "The files are valid; no training was done.",
        code="method_not_available",
        param="method.type",
    )
