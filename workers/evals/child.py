"""The process that works on one claim of an eval run: `python -m workers.evals.child RUN PROJECT
FENCE`. It renews its own lease, and ends with its parent or when the lease is lost.
"""

import asyncio
import contextlib
import signal
import sys
import time

import structlog

from app.domain.errors import LeaseLost, Unavailable
from app.gateways.egress.client import build_egress
from app.gateways.endpoints.signing import cache_salt
from app.gateways.inference.http import HttpInference
from app.gateways.inference.judges import build_judge_egress
from app.gateways.objects import LocalObjects
from app.logs import log_to_stderr
from app.settings import Settings, load_settings
from app.store.database import Database
from app.store.evals.claims import ClaimedEvalRun, eval_claims
from workers.evals.context import EvalPorts, open_eval_run
from workers.evals.run import EvalWork
from workers.processes.parent_watch import end_with_parent

log = structlog.get_logger()

EXIT_FAULT = 1
EXIT_LEASE_LOST = 3
EXIT_ORPHANED = 4
POOL_SIZE = 4


def main(arguments: list[str]) -> int:
    run_id, project_id, fence = arguments
    end_with_parent(EXIT_ORPHANED)
    log_to_stderr()
    structlog.contextvars.bind_contextvars(eval_run_id=run_id, fence=int(fence))
    return asyncio.run(_run(load_settings(), ClaimedEvalRun(run_id, project_id, int(fence))))


async def _run(settings: Settings, claimed: ClaimedEvalRun) -> int:
    ports = EvalPorts(
        settings=settings,
        database=Database(settings.worker_database_url, pool_size=POOL_SIZE),
        objects=LocalObjects(settings.objects_dir),
        egress=build_egress(settings.egress),
        judge_egress=build_judge_egress(settings.judges, settings.egress),
        inference=HttpInference(
            settings.engine_url, api_key=settings.engine_api_key.get_secret_value()
        ).with_cache_namespace(
            cache_salt(settings.secret_key.get_secret_value(), claimed.project_id)
        ),
    )
    working = asyncio.ensure_future(work(ports, claimed))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
    try:
        await working
    except LeaseLost:
        log.warning("lease lost, nothing more is written")
        return EXIT_LEASE_LOST
    except (Exception, asyncio.CancelledError):  # a process boundary: another claim goes on
        log.exception("eval run given back")
        with contextlib.suppress(LeaseLost, Unavailable):
            async with eval_claims(ports.database) as unit:
                await unit.runs.release(claimed)
        return EXIT_FAULT
    finally:
        await ports.egress.aclose()
        await ports.judge_egress.aclose()
        await ports.inference.aclose()
        await ports.database.dispose()
    return 0


async def work(ports: EvalPorts, claimed: ClaimedEvalRun) -> None:
    """Works on a run under its lease. Raises `LeaseLost` when the lease cannot be kept."""

    async def see_through() -> None:
        await EvalWork(await open_eval_run(ports, claimed)).run()

    working = asyncio.ensure_future(see_through())
    keeping = asyncio.ensure_future(_keep_lease(ports, claimed))
    try:
        await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
        await (working if working.done() else keeping)
    finally:
        for task in (working, keeping):
            task.cancel()
        await asyncio.gather(working, keeping, return_exceptions=True)


async def _keep_lease(ports: EvalPorts, claimed: ClaimedEvalRun) -> None:
    """Ends only by `LeaseLost`."""
    lease = ports.settings.lease
    valid_until = time.monotonic() + lease.lease_s
    while True:
        await asyncio.sleep(lease.heartbeat_s)
        started = time.monotonic()
        try:
            async with eval_claims(ports.database) as unit:
                await unit.runs.renew(claimed, lease.lease_s)
            valid_until = started + lease.lease_s
        except Unavailable:
            if time.monotonic() > valid_until - lease.heartbeat_s:
                raise LeaseLost(f"{claimed.run_id} could not be renewed in time") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
