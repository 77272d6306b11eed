"""The process that works on one claim of an eval run: `python -m workers.evals.child RUN PROJECT
FENCE`.
"""

import sys

import structlog

from app.evals.claims import leased_eval_run
from app.kit.errors import RunFailed
from app.kit.leases import Lease
from app.kit.telemetry import SPANS
from workers.evals.context import open_eval_run
from workers.evals.run import EvalWork
from workers.leased_kinds import EVAL_RUNS
from workers.processes.child import run_dispatched
from workers.processes.clients import Clients
from workers.processes.retry import retry_while_unavailable

log = structlog.get_logger()


async def work(clients: Clients, lease: Lease) -> None:
    """Raises `LeaseLost` once the run was canceled or claimed again."""
    try:
        await EvalWork(await open_eval_run(clients, lease)).run()
    except RunFailed as failure:
        await _fail(clients, lease, failure)


async def _fail(clients: Clients, lease: Lease, failure: RunFailed) -> None:
    async def fail() -> None:
        async with leased_eval_run(clients.database, lease) as unit:
            await unit.run.fail(failure.code, failure.message)

    await retry_while_unavailable(fail)
    SPANS.mark_failed(failure.code)
    log.warning("eval run failed", code=failure.code)


if __name__ == "__main__":
    sys.exit(run_dispatched(EVAL_RUNS, work))
