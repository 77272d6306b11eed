"""Removes the working data of ended jobs: the journal, the trainer's stored state, the adapters
loaded in the engine.

A run that fails or succeeds removes its own. A job that was cancelled, or whose workers died, has
no worker that may write for it any more; this module removes its leftovers once every claim of it
must have ended. Rollouts, metrics, and the adapters of models and checkpoints remain.
"""

from typing import Final

import structlog

from app.gateways.inference.inference import Inference
from app.gateways.objects import Objects
from app.store.database import Database
from app.store.maintenance.expiry import EndedRun, maintenance
from workers.runs.adapter_names import adapter_prefix, unload_all
from workers.runs.retention import clear_job

log = structlog.get_logger()

SETTLED_S: Final = 600.0
"""A job is cleared this long after its end; a run that lost its lease ends in two heartbeats."""
_BATCH: Final = 100


async def clear_ended(database: Database, objects: Objects, inference: Inference) -> None:
    """Clears ended jobs. The next round repeats jobs whose adapters the engine did not unload."""
    more = True
    while more:
        async with maintenance(database) as unit:
            ended = await unit.expiry.ended_runs(_BATCH, settled_s=SETTLED_S)
        cleared = await _unloaded(inference, ended)
        for run in ended:
            job_key = f"projects/{run.project_id}/jobs/{run.job_id}"
            await clear_job(objects, job_key, set(run.adapters))
            async with maintenance(database) as unit:
                await unit.expiry.forget_run(run, cleared=cleared)
            log.info("leftovers of an ended job removed", job_id=run.job_id)
        more = cleared and len(ended) == _BATCH


async def _unloaded(inference: Inference, ended: list[EndedRun]) -> bool:
    """Unloads the adapters of claims that died with them loaded. Returns whether that worked."""
    if not ended:
        return True
    fault = await unload_all(
        inference, [adapter_prefix(run.project_id, run.job_id) for run in ended]
    )
    if fault is not None:
        log.warning("adapters of ended jobs left in the engine", error=repr(fault))
    return fault is None
