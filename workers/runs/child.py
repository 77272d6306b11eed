"""The process that runs one claim of one job: `python -m workers.runs.child JOB PROJECT FENCE`.

It ends when its parent does: the parent holds the other end of standard input, and an end of file
there means that nobody renews the lease any more. Exit 0 says the job reached an end state.
"""

import asyncio
import os
import sys
import threading

import structlog

from app.domain.errors import LeaseLost, RunFailed
from app.gateways.egress import build_egress
from app.gateways.inference import HttpInference
from app.settings import Settings, load_settings
from app.store.database import Database
from workers.runs.ending import Ending
from workers.runs.job import JobRun
from workers.runs.opening import open_run

log = structlog.get_logger()

EXIT_LEASE_LOST = 3
EXIT_ORPHANED = 4
POOL_SIZE = 4


def main(arguments: list[str]) -> int:
    job_id, project_id, fence = arguments
    _end_with_parent()
    structlog.contextvars.bind_contextvars(job_id=job_id, fence=fence)
    try:
        asyncio.run(_run(load_settings(), job_id, project_id, int(fence)))
    except LeaseLost:
        log.warning("lease lost, nothing more is written")
        return EXIT_LEASE_LOST
    return 0


async def _run(settings: Settings, job_id: str, project_id: str, fence: int) -> None:
    database = Database(settings.worker_database_url, pool_size=POOL_SIZE)
    egress = build_egress(settings.egress)
    inference = HttpInference(
        settings.engine_url, api_key=settings.engine_api_key.get_secret_value()
    )
    try:
        context = await open_run(
            settings, database, egress, inference, project_id=project_id, job_id=job_id, fence=fence
        )
        await JobRun(context).run()
    except RunFailed as failure:
        ending = Ending(database, project_id=project_id, job_id=job_id, fence=fence)
        await ending.failed(failure)
    finally:
        await egress.aclose()
        await inference.aclose()
        await database.dispose()


def _end_with_parent() -> None:
    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(EXIT_ORPHANED)

    threading.Thread(target=wait, name="parent-watch", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
