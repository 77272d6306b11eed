"""The process that runs one claim of one job: `python -m workers.runs.child JOB PROJECT FENCE`.

It ends when its parent does: the parent holds the other end of standard input, and an end of file
there means that nobody renews the lease any more. Exit 0 says the job reached an end state.
"""

import asyncio
import contextlib
import sys
import warnings

import structlog

from app.domain.errors import LeaseLost, RunFailed, Unavailable
from app.gateways.egress.client import build_egress
from app.gateways.endpoints.signing import cache_salt
from app.gateways.inference.http import HttpInference
from app.gateways.inference.judges import build_judge_egress
from app.logs import log_to_stderr
from app.settings import Settings, load_settings
from app.store.database import Database
from workers.processes.parent_watch import end_with_parent
from workers.runs.ending import Ending
from workers.runs.job import JobRun
from workers.runs.opening import open_run

log = structlog.get_logger()

EXIT_FAULT = 1
EXIT_LEASE_LOST = 3
EXIT_ORPHANED = 4
POOL_SIZE = 4


def main(arguments: list[str]) -> int:
    job_id, project_id, fence = arguments
    end_with_parent(EXIT_ORPHANED)
    log_to_stderr()
    # A library's advice to its callers is nothing that a reader of this log could follow.
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    structlog.contextvars.bind_contextvars(job_id=job_id, fence=int(fence))
    return asyncio.run(_run(load_settings(), job_id, project_id, int(fence)))


async def _run(settings: Settings, job_id: str, project_id: str, fence: int) -> int:
    database = Database(settings.worker_database_url, pool_size=POOL_SIZE)
    egress = build_egress(settings.egress)
    judge_egress = build_judge_egress(settings.judges, settings.egress)
    inference = HttpInference(
        settings.engine_url, api_key=settings.engine_api_key.get_secret_value()
    )
    ending = Ending(database, project_id=project_id, job_id=job_id, fence=fence)
    try:
        context = await open_run(
            settings,
            database,
            egress,
            inference.with_cache_namespace(
                cache_salt(settings.secret_key.get_secret_value(), project_id)
            ),
            project_id=project_id,
            job_id=job_id,
            fence=fence,
            judge_egress=judge_egress,
        )
        await JobRun(context).run()
    except RunFailed as failure:
        await ending.failed(failure)
    except LeaseLost:
        log.warning("lease lost, nothing more is written")
        return EXIT_LEASE_LOST
    except Exception as error:  # a process boundary: another attempt, or the job's reason
        log.exception("run ended by a fault")
        with contextlib.suppress(LeaseLost, Unavailable):
            if await ending.exhausted(error, max_attempts=settings.lease.max_attempts):
                return 0
        return EXIT_FAULT
    finally:
        await egress.aclose()
        await judge_egress.aclose()
        await inference.aclose()
        await database.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
