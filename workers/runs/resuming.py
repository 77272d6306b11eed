"""Where a claim takes up its job: at the last committed step, or at the start."""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog

from app.domain.errors import AgentRftError, RunFailed
from workers.learning.compute_thread import run_on_compute_thread
from workers.learning.trainer import Trainer
from workers.learning.trainer_settings import saved_settings
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.scheduler_state import load_scheduler_state

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ResumePoint:
    step: int
    """0 for a fresh run."""
    adapter_key: str | None = None
    saved: dict[str, Any] | None = None
    """What the mode carried over."""


@dataclass(frozen=True, slots=True)
class AdapterSettings:
    """What an adapter is made and trained with, from the first step to the last."""

    rank: int
    alpha: float
    learning_rate: float


async def adapter_settings_of_resume(
    context: RunContext, *, learning_rate: float
) -> AdapterSettings:
    """Those of the last committed step's state: what the operator has set for the base model since
    is for jobs that begin. Before there is a state, what is set now and `learning_rate`.
    """
    base = context.base_model
    _, state_key, _ = await _resume_point(context)
    if state_key is not None:
        path = context.objects.local_path(state_key)
        saved = await asyncio.to_thread(saved_settings, path)
        if saved is not None:
            return AdapterSettings(saved.rank, saved.alpha, saved.learning_rate)
    return AdapterSettings(base.lora_rank, base.lora_alpha, learning_rate)


async def committed_step(context: RunContext) -> int:
    return (await _resume_point(context))[0]


async def restore(context: RunContext, trainer: Trainer) -> ResumePoint:
    """Give the trainer the state that the last committed step left. Raises `RunFailed` when it is
    damaged.
    """
    step, state_key, adapter_key = await _resume_point(context)
    if step == 0 or state_key is None or adapter_key is None:
        return ResumePoint(0)
    state_path = context.objects.local_path(state_key)
    try:
        await run_on_compute_thread(trainer.load_state, state_path)
        saved = await asyncio.to_thread(load_scheduler_state, state_path.parent)
    except AgentRftError as error:
        raise RunFailed(
            f"The state saved at step {step} cannot be used: {error}", code="state_damaged"
        ) from error
    log.info("resumed", step=step)
    return ResumePoint(step, adapter_key, saved)


async def _resume_point(context: RunContext) -> tuple[int, str | None, str | None]:
    async def read() -> tuple[int, str | None, str | None]:
        async with context.unit() as unit:
            return await unit.jobs.resume_point()

    return await retry_while_unavailable(read)
