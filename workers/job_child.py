"""The child of one claim of one job: `python -m workers.job_child JOB PROJECT FENCE`."""

import sys
import warnings

from app.jobs.reinforcement import ReinforcementMethod
from app.kit.errors import RunFailed
from app.kit.leases import Lease
from workers.leased_kinds import JOBS
from workers.methods.reinforcement.method import reinforcement_training
from workers.methods.supervised.method import supervised_training
from workers.processes.child import run_supervised
from workers.processes.clients import Clients
from workers.runs.context import RunContext, claim_scratch
from workers.runs.job import JobRun, RunEnding
from workers.runs.method import Method
from workers.runs.opening import open_run
from workers.runs.reporter import record_ended


def build_method(context: RunContext) -> Method:
    if isinstance(context.method, ReinforcementMethod):
        return reinforcement_training(context, context.method)
    return supervised_training(context, context.method)


def job_run(context: RunContext) -> JobRun:
    return JobRun(context, build_method(context))


async def work(clients: Clients, lease: Lease) -> None:
    try:
        with claim_scratch(clients.settings.work_dir, lease.id, lease.fence) as scratch:
            context = await open_run(clients, lease, scratch)
            try:
                await job_run(context).run()
            finally:
                await record_ended(clients.database, context.job)
    except RunFailed as failure:
        await RunEnding(clients.database, clients.objects, lease).failed(failure)


async def fail_if_exhausted(clients: Clients, lease: Lease, error: Exception) -> bool:
    ending = RunEnding(clients.database, clients.objects, lease)
    return await ending.exhausted(error, max_attempts=clients.settings.lease.max_attempts)


def main() -> int:
    # The library's advice is addressed to its callers; nobody who reads this log can follow it.
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    return run_supervised(JOBS, work, on_fault=fail_if_exhausted)


if __name__ == "__main__":
    sys.exit(main())
