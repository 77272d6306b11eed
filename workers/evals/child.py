"""The process that works on one claim of an eval run: `python -m workers.evals.child RUN PROJECT
FENCE`.
"""

import sys

from app.store.leases import Lease
from workers.evals.context import open_eval_run
from workers.evals.leased_runs import EVAL_RUNS
from workers.evals.run import EvalWork
from workers.processes.child import run_dispatched
from workers.processes.clients import Clients


async def work(clients: Clients, lease: Lease) -> None:
    """Works on the run under its lease. Raises `LeaseLost` once the run was canceled or claimed
    again.
    """
    await EvalWork(await open_eval_run(clients, lease)).run()


if __name__ == "__main__":
    sys.exit(run_dispatched(EVAL_RUNS, work))
