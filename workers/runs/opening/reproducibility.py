"""Records at the beginning of a claim whether its machine keeps a job the same to the bit."""

import asyncio
from typing import assert_never

from app.domain.jobs.jobs import TuningMethod
from app.domain.jobs.reproducibility import ClaimMachine, reproducibility
from app.domain.methods.mode import trains_in_order
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, SupervisedMethod
from app.gateways.inference.inference import EngineUnavailable
from workers.compute.processor import describe_computation, describe_processor, is_accelerated
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.opening.trainer_machine import way_to_compute


async def record_reproducibility(context: RunContext) -> None:
    """Writes the job's record; a lost promise is never restored. Raises `LeaseLost`."""
    claim = await _machine(context)

    async def write() -> None:
        async with context.unit() as unit:
            before = (await unit.jobs.get(context.job.id)).reproducibility
            await unit.jobs.record_reproducibility(reproducibility(before, claim))

    await retry_while_unavailable(write)


async def _machine(context: RunContext) -> ClaimMachine:
    samples, in_order = _sampling(context.method)
    engine = None
    if samples:
        try:
            engine = await context.inference.machine(context.base_model.name)
        except EngineUnavailable:  # the run waits for it; its record must not
            engine = None
    return ClaimMachine(
        trainer=await _trainer(context),
        accelerated=is_accelerated(),
        in_order=in_order,
        samples=samples,
        engine=engine,
    )


async def _trainer(context: RunContext) -> str:
    way = await way_to_compute(context)
    if way is None:
        return await asyncio.to_thread(describe_processor)
    return await asyncio.to_thread(describe_computation, way)


def _sampling(method: TuningMethod) -> tuple[bool, bool]:
    """Returns whether a method samples, and whether it trains in an order of its own."""
    match method:
        case ReinforcementMethod():
            return True, trains_in_order(method.mode)
        case SupervisedMethod() | DpoMethod():
            return False, True
        case _:
            assert_never(method)
