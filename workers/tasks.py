"""Celery tasks: five-line bodies that start the real work. Heavy imports happen inside the call."""

import asyncio

from app.domain.evals.evals import EVAL_SWEEP_TASK, EVAL_TASK
from app.domain.events.webhooks import DELIVER_TASK
from app.domain.jobs.jobs import EXPIRE_TASK, RUN_TASK, SWEEP_TASK
from app.settings import load_settings
from workers.celery_app import app


@app.task(name=RUN_TASK)  # type: ignore[untyped-decorator]  # celery ships no types
def run_job(job_id: str) -> None:
    """Try to claim a job; if it is ours, see its run through."""
    from workers.runs.supervisor import supervise  # noqa: PLC0415 - heavy import inside the call

    asyncio.run(supervise(load_settings(), job_id))


@app.task(name=SWEEP_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> None:
    """Send lost wake-ups again, take over expired leases, end jobs that keep killing workers."""
    from workers.runs.sweeper import sweep_once  # noqa: PLC0415 - the worker's parent process loads no more than it needs

    asyncio.run(sweep_once(load_settings()))


@app.task(name=EVAL_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def run_eval(run_id: str) -> None:
    """Try to claim an eval run; if it is ours, start the process that works on it."""
    from workers.evals.dispatcher import dispatch  # noqa: PLC0415 - the worker's parent process loads no more than it needs

    asyncio.run(dispatch(load_settings(), run_id))


@app.task(name=EVAL_SWEEP_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def sweep_evals() -> None:
    """The same repairs for eval runs."""
    from workers.evals.sweeper import sweep_evals_once  # noqa: PLC0415 - the worker's parent process loads no more than it needs

    asyncio.run(sweep_evals_once(load_settings()))


@app.task(name=DELIVER_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def deliver_webhooks() -> None:
    """See to it that a process delivers what is due."""
    from workers.webhooks.dispatcher import dispatch  # noqa: PLC0415 - the worker's parent process loads no more than it needs

    asyncio.run(dispatch(load_settings()))


@app.task(name=EXPIRE_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def expire() -> None:
    """Remove the bytes and rows of files and uploads whose time is over."""
    from workers.maintenance.expiry import expire_once  # noqa: PLC0415 - the worker's parent process loads no more than it needs

    asyncio.run(expire_once(load_settings()))
