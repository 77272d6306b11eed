"""Where a claim takes up its job: at the last committed step, or at the start."""

import asyncio
from dataclasses import dataclass
from typing import Any

import structlog

from app.domain.errors import AgentRftError, RunFailed
from workers.learning.compute_thread import computed
from workers.learning.trainer_options import Trainer
from workers.runs.context import RunContext
from workers.runs.patience import patiently
from workers.runs.scheduler_state import load_scheduler_state

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ResumePoint:
    step: int
    """0 for a fresh run."""
    adapter_key: str | None = None
    saved: dict[str, Any] | None = None
    """What the mode carried over."""


async def committed_step(context: RunContext) -> int:
    async def read() -> int:
        async with context.unit() as unit:
            return (await unit.jobs.resume_point())[0]

    return await patiently(read)


async def restore(context: RunContext, trainer: Trainer) -> ResumePoint:
    """Give the trainer the state that the last committed step left. Raises `RunFailed` when it is
    damaged.
    """

    async def read() -> tuple[int, str | None, str | None]:
        async with context.unit() as unit:
            return await unit.jobs.resume_point()

    step, state_key, adapter_key = await patiently(read)
    if step == 0 or state_key is None or adapter_key is None:
        return ResumePoint(0)
    state_path = context.objects.local_path(state_key)
    try:
        await computed(trainer.load_state, state_path)
        saved = await asyncio.to_thread(load_scheduler_state, state_path.parent)
    except AgentRftError as error:
        raise RunFailed(
            f"The state saved at step {step} cannot be used: {error}", code="state_damaged"
        ) from error
    log.info("resumed", step=step)
    return ResumePoint(step, adapter_key, saved)
