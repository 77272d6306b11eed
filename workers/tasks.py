"""Celery tasks: short functions that start the work. Expensive imports happen inside the call."""

import asyncio
from typing import Final

from celery import Task

from app.kit.job_queue import (
    DELIVER_TASK,
    EVAL_TASK,
    EXPIRE_TASK,
    EXPORT_TASK,
    RUN_TASK,
    SWEEP_TASK,
    TRACK_TASK,
)
from app.settings import load_settings
from workers.celery_app import app
from workers.processes.forking.forks import Children, fork_server

JOB_CHILDREN: Final = fork_server(
    "workers.job_child",
    "workers.methods.reinforcement.training",
    "workers.methods.supervised.training",
    "workers.learning.lora_trainer",
)
"""Celery runs each queue in a process of its own, so each has its own fork server."""
CONTROL_CHILDREN: Final = fork_server(
    "workers.evals.child",
    "workers.exports.child",
    "workers.trackers.child",
    "workers.webhooks.child",
)


class ChildrenTask(Task):  # type: ignore[misc]  # celery has no types
    """A task that starts child processes. Celery creates one object of it in each process."""

    child_limit = 1

    def __init__(self) -> None:
        self.children = Children(self.child_limit, CONTROL_CHILDREN)


@app.task(name=RUN_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def run_job(_job_id: str) -> None:
    from workers.leased_kinds import JOBS
    from workers.processes.claim_supervisor import supervise

    asyncio.run(supervise(JOBS, load_settings(), starter=JOB_CHILDREN))


@app.task(name=EVAL_TASK, base=ChildrenTask, bind=True, child_limit=2)  # type: ignore[untyped-decorator]  # celery has no types
def run_eval(task: ChildrenTask, _run_id: str) -> None:
    from workers.leased_kinds import EVAL_RUNS
    from workers.processes.dispatcher import dispatch

    asyncio.run(dispatch(EVAL_RUNS, load_settings(), children=task.children))


@app.task(name=EXPORT_TASK, base=ChildrenTask, bind=True)  # type: ignore[untyped-decorator]  # celery has no types
def run_export(task: ChildrenTask, _export_id: str) -> None:
    from workers.leased_kinds import EXPORTS
    from workers.processes.dispatcher import dispatch

    asyncio.run(dispatch(EXPORTS, load_settings(), children=task.children))


@app.task(name=SWEEP_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def sweep() -> None:
    """Repairs lost notifications and lost workers, for every kind of leased work."""
    from workers.leased_kinds import EVAL_RUNS, EXPORTS, JOBS
    from workers.processes.clients import PERIODIC_TASKS
    from workers.processes.dispatcher import sweep_all

    PERIODIC_TASKS.run(lambda clients: sweep_all(clients, (JOBS, EVAL_RUNS, EXPORTS)))


@app.task(name=DELIVER_TASK, base=ChildrenTask, bind=True)  # type: ignore[untyped-decorator]  # celery has no types
def deliver_webhooks(task: ChildrenTask) -> None:
    """Starts the process that delivers webhooks, unless it runs or nothing is due."""
    from workers.processes.clients import PERIODIC_TASKS
    from workers.processes.dispatcher import start_if_due
    from workers.webhooks.delivery import is_delivery_due

    PERIODIC_TASKS.run(
        lambda clients: start_if_due(
            "workers.webhooks.child",
            lambda: is_delivery_due(clients.database),
            children=task.children,
        )
    )


@app.task(name=TRACK_TASK, base=ChildrenTask, bind=True)  # type: ignore[untyped-decorator]  # celery has no types
def write_trackers(task: ChildrenTask) -> None:
    """Starts the process that writes trackers, unless it runs or no job has one."""
    from workers.processes.clients import PERIODIC_TASKS
    from workers.processes.dispatcher import start_if_due
    from workers.trackers.update_reader import tracked_integrations

    PERIODIC_TASKS.run(
        lambda clients: start_if_due(
            "workers.trackers.child",
            lambda: tracked_integrations(clients.database),
            children=task.children,
        )
    )


@app.task(name=EXPIRE_TASK)  # type: ignore[untyped-decorator]  # celery has no types
def expire() -> None:
    from workers.maintenance.expiry import expire_once
    from workers.processes.clients import PERIODIC_TASKS

    PERIODIC_TASKS.run(expire_once)
