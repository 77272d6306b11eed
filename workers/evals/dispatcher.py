"""Claims an eval run and starts the process that does the work, so that the queue goes on.

The control queue also carries sweeps, which must not wait for an eval of hours. The process lives
no longer than this one. A run for which there is no place stays queued: the sweeper asks again.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import structlog

from app.settings import Settings
from app.store.database import Database
from app.store.evals.claims import ClaimedEvalRun, eval_claims

log = structlog.get_logger()

CHILD: Final = (sys.executable, "-m", "workers.evals.child")
MAX_CHILDREN: Final = 2
_children: list[subprocess.Popen[bytes]] = []


async def dispatch(settings: Settings, run_id: str, *, child: Sequence[str] = CHILD) -> bool:
    """Whether the run was claimed and is now worked on."""
    _children[:] = [running for running in _children if running.poll() is None]
    if len(_children) >= MAX_CHILDREN:
        log.info("no place for another eval run", run_id=run_id)
        return False
    claimed = await _claim(settings, run_id)
    if claimed is None:
        log.info("nothing to claim", run_id=run_id)
        return False
    command = [*child, claimed.run_id, claimed.project_id, str(claimed.fence)]
    _children.append(subprocess.Popen(command, stdin=subprocess.PIPE))  # noqa: ASYNC220, S603 - our own program, returns at once
    return True


async def _claim(settings: Settings, run_id: str) -> ClaimedEvalRun | None:
    owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
    database = Database(settings.worker_database_url, pool_size=1)
    try:
        async with eval_claims(database) as unit:
            return await unit.runs.claim(
                run_id, owner, settings.lease.lease_s, max_attempts=settings.lease.max_attempts
            )
    finally:
        await database.dispose()
