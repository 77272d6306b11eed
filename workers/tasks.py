"""Celery tasks: five-line bodies that start the real work. Heavy imports happen inside the call."""

import asyncio

from app.domain.jobs import RUN_TASK, SWEEP_TASK
from app.settings import load_settings
from workers.celery_app import app


@app.task(name=RUN_TASK)  # type: ignore[untyped-decorator]  # celery ships no types
def run_job(job_id: str) -> None:
    """Try to claim a job; if it is ours, see its run through."""
    from workers.runs.supervisor import supervise  # noqa: PLC0415 - heavy import inside the call

    asyncio.run(supervise(load_settings(), job_id))


@app.task(name=SWEEP_TASK)  # type: ignore[untyped-decorator]  # as above
def sweep() -> None:
    """Send lost wake-ups again, take over expired leases, end jobs that keep killing workers."""
    from workers.runs.sweeper import sweep_once  # noqa: PLC0415 - as above

    asyncio.run(sweep_once(load_settings()))
