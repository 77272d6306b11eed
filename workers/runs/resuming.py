"""Resumes a job at its last committed step, or starts it."""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog

from app.domain.errors import AgentRftError, RunFailed
from app.domain.jobs.jobs import ResumePoint
from workers.learning.compute_thread import run_on_compute_thread
from workers.learning.trainer import Trainer
from workers.learning.trainer_settings import saved_settings
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.scheduler_state import load_scheduler_state

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Resumed:
    """The point at which a claim continues."""

    step: int
    """0 for a fresh run."""
    adapter_key: str | None = None
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
    """Returns the settings of the last committed step's state: later changes of the operator's
    apply to new jobs only. Before there is a state, the present settings and `learning_rate`.
    """
    base = context.base_model
    state_key = (await _resume_point(context)).state_key
    if state_key is not None:
        path = context.objects.local_path(state_key)
        saved = await asyncio.to_thread(saved_settings, path)
        if saved is not None:
            return AdapterSettings(saved.rank, saved.alpha, saved.learning_rate)
    return AdapterSettings(base.lora_rank, base.lora_alpha, learning_rate)


async def committed_step(context: RunContext) -> int:
    return (await _resume_point(context)).step


async def restore(context: RunContext, trainer: Trainer) -> Resumed:
    """Loads the state of the last committed step into the trainer. Raises `RunFailed` when it is
    damaged.
    """
    point = await _resume_point(context)
    step, state_key, adapter_key = point.step, point.state_key, point.adapter_key
    if step == 0 or state_key is None or adapter_key is None:
        return Resumed(0)
    state_path = context.objects.local_path(state_key)
    try:
        await run_on_compute_thread(trainer.load_state, state_path)
        saved = await asyncio.to_thread(load_scheduler_state, state_path.parent)
    except AgentRftError as error:
        raise RunFailed(
            f"The state saved at step {step} cannot be used: {error}", code="state_damaged"
        ) from error
    log.info("resumed", step=step)
    return Resumed(step, adapter_key, saved)


async def _resume_point(context: RunContext) -> ResumePoint:
    async def read() -> ResumePoint:
        async with context.unit() as unit:
            return await unit.jobs.resume_point()

    return await retry_while_unavailable(read)
