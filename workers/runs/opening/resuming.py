"""Resumes a job at its last committed step, or starts it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from app.domain.errors import AgentRftError, RunFailed
from app.domain.jobs.jobs import ResumePoint
from app.domain.models.manifests import ManifestMismatch
from workers.compute.compute_thread import run_on_compute_thread
from workers.learning.trainer import Trainer
from workers.learning.trainer_settings import TrainerSettings, saved_settings
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import ADAPTER, SCHEDULER, STATE, RunContext
from workers.runs.directories import JobDirectories
from workers.runs.steps.scheduler_state import load_scheduler_state

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ResumedState:
    """The point at which a claim continues."""

    step: int
    """0 for a fresh run."""
    adapter: Path | None = None
    """Local directory of the step's adapter."""
    scheduler_state: dict[str, Any] | None = None
    """State of the scheduler after that step."""


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """The settings of a run's adapter, constant from the first step to the last."""

    rank: int
    alpha: float
    learning_rate: float


async def adapter_settings_of_resume(
    context: RunContext, *, learning_rate: float
) -> AdapterSettings:
    """Returns the settings of the last committed step's state: later changes by the operator apply
    to new jobs only. Without a state, returns the present settings and `learning_rate`.
    """
    base, saved = context.base_model, await saved_trainer(context)
    if saved is None:
        return AdapterSettings(base.lora_rank, base.lora_alpha, learning_rate)
    return AdapterSettings(saved.rank, saved.alpha, saved.learning_rate)


async def saved_trainer(context: RunContext) -> TrainerSettings | None:
    """Returns the settings of the trainer of the last committed step; `None` without a state."""
    state_key = (await _resume_point(context)).state_key
    if state_key is None:
        return None
    with suppress(FileNotFoundError, ManifestMismatch):  # `restore` reports what is damaged
        path = await _committed(context, state_key).fetch(STATE)
        return await asyncio.to_thread(saved_settings, path)
    return None


async def committed_step(context: RunContext) -> int:
    return (await _resume_point(context)).step


async def restore(context: RunContext, trainer: Trainer) -> ResumedState:
    """Loads the state of the last committed step into the trainer. Raises `RunFailed` when it is
    damaged.
    """
    point = await _resume_point(context)
    step, state_key, adapter_key = point.step, point.state_key, point.adapter_key
    if step == 0 or state_key is None or adapter_key is None:
        return ResumedState(0)
    committed = _committed(context, state_key)
    try:
        await run_on_compute_thread(trainer.load_state, await committed.fetch(STATE))
        saved = await _scheduler_state(committed)
        adapter = await _committed(context, adapter_key).fetch(ADAPTER)
    except (FileNotFoundError, AgentRftError) as error:
        raise RunFailed(
            f"The state saved at step {step} cannot be used ({error}). Create the job again.",
            code="state_damaged",
        ) from error
    log.info("resumed", step=step)
    return ResumedState(step, adapter, saved)


async def fetch_adapter(context: RunContext, adapter_key: str) -> Path:
    """Fetches the adapter of a committed step into a directory of its own."""
    step_key, _, _ = adapter_key.rpartition("/")
    scratch = context.scratch / "again" / step_key.rpartition("/")[2]
    return await JobDirectories(context.objects, step_key, scratch).fetch(ADAPTER)


async def _scheduler_state(committed: JobDirectories) -> dict[str, Any] | None:
    try:
        path = await committed.fetch(SCHEDULER)
    except FileNotFoundError:
        return None
    return await asyncio.to_thread(load_scheduler_state, path)


def _committed(context: RunContext, part_key: str) -> JobDirectories:
    """Returns the directories of the step that a part's key is in, whichever claim wrote it."""
    step_key, _, _ = part_key.rpartition("/")
    return JobDirectories(context.objects, step_key, context.scratch / "resume")


async def _resume_point(context: RunContext) -> ResumePoint:
    async def read() -> ResumePoint:
        async with context.unit() as unit:
            return await unit.jobs.resume_point()

    return await retry_while_unavailable(read)
