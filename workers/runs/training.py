"""The heavy half of a run: resume, baseline, steps, report. Importing it takes seconds (torch).

A run therefore loads it beside the check of its files; a broken file is answered without it.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from app.domain.dataset import DatasetRow
from app.domain.errors import AgentRftError, RunFailed
from workers.runs.assembly import Parts, assemble
from workers.runs.context import Plan, RunContext
from workers.runs.evaluation import build_report
from workers.runs.finished import Trained, best_adapter
from workers.runs.loop import Loop
from workers.runs.patience import patiently
from workers.runs.reporter import Reporter
from workers.runs.scheduler_state import load_scheduler_state
from workers.runs.stopping import StoppedEarly

log = structlog.get_logger()


async def train(
    context: RunContext,
    plan: Plan,
    rows: tuple[Sequence[DatasetRow], Sequence[DatasetRow]],
    *,
    reporter: Reporter,
    between: Callable[[], None],
) -> Trained:
    """From the last committed step to the last one, or to the one that a rule ends it at.

    `rows` are those to train on and those held out. What `between` raises ends it between steps;
    `StoppedEarly` is a success, once the last step is validated.
    """
    train_rows, valid_rows = rows
    parts = await asyncio.to_thread(assemble, context, plan)
    reporter.meter.accelerators = parts.accelerators
    try:
        await parts.publisher.forget_earlier_claims()
        committed, saved = await _resume(context, parts)
        loop = Loop(
            context,
            plan,
            room=parts.room,
            mode=parts.mode,
            policy=parts.policy,
            publisher=parts.publisher,
            reporter=reporter,
        )
        await loop.baseline(valid_rows)
        await reporter.stopping.load()
        ended = None
        try:
            await loop.steps(
                train_rows, valid_rows, first=committed + 1, saved=saved, between=between
            )
        except StoppedEarly as stop:
            ended = stop.finding
            await parts.mode.close()
            await loop.validate(valid_rows, step=await _committed(context))
    finally:
        await parts.mode.close()
        await parts.publisher.close()
    step, adapter_key = await best_adapter(context)
    return Trained(step, adapter_key, await build_report(context, step, ended), ended)


async def _committed(context: RunContext) -> int:
    async def read() -> int:
        async with context.unit() as unit:
            return (await unit.jobs.resume_point())[0]

    return await patiently(read)


async def _resume(context: RunContext, parts: Parts) -> tuple[int, dict[str, Any] | None]:
    """Load what the last committed step left. Returns that step, 0 for a fresh run, and what the
    mode carried over.
    """

    async def read() -> tuple[int, str | None, str | None]:
        async with context.unit() as unit:
            return await unit.jobs.resume_point()

    step, state_key, adapter_key = await patiently(read)
    if step == 0 or state_key is None or adapter_key is None:
        return 0, None
    state_path = context.objects.local_path(state_key)
    try:
        await asyncio.to_thread(parts.trainer.load_state, state_path)
        saved = await asyncio.to_thread(load_scheduler_state, state_path.parent)
    except AgentRftError as error:
        raise RunFailed(
            f"The state saved at step {step} cannot be used: {error}", code="state_damaged"
        ) from error
    await parts.publisher.republish(step, adapter_key)
    log.info("resumed", step=step)
    return step, saved
