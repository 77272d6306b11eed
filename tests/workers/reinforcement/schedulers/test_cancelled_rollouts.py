"""A rollout that is cancelled from within is a lost rollout, in every mode."""

import asyncio
from collections.abc import Callable

import pytest

from app.jobs.learning import AsyncOptions
from app.kit.ids import SampleKey
from app.rollouts.trajectory import FailureClass
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S
from tests.support.reinforcement.scripted_modes import CountingTrainer, GatedGrader, Stage
from workers.methods.schedulers.asynchronous import AsyncMode
from workers.methods.schedulers.mode import Mode, SchedulerContext, StreamingMode, SyncMode

MODES: dict[str, Callable[[SchedulerContext], Mode]] = {
    "sync": SyncMode,
    "streaming": lambda context: StreamingMode(context, minibatches=2),
    "async": lambda context: AsyncMode(context, AsyncOptions(type="async", max_staleness=1)),
}


@cases("mode", MODES)
async def test_a_grader_whose_scope_leaks_costs_its_own_rollout(mode: str) -> None:
    async def gate(key: SampleKey) -> None:
        if (key.prompt_index, key.sample_index) == (2, 1):
            raise asyncio.CancelledError

    stage = Stage(CountingTrainer(), steps=2, grader=GatedGrader(gate))
    run = stage.run(MODES[mode](stage.context))
    outcomes = await asyncio.wait_for(run, PATIENCE_S)
    assert [len(outcome.rollouts) for outcome in outcomes] == [16, 16]
    failures = [r.failure for outcome in outcomes for r in outcome.rollouts if r.failure]
    assert [failure.failure_class for failure in failures] == [FailureClass.CANCELLED]


@cases("mode", MODES)
async def test_a_run_that_is_cancelled_ends(mode: str) -> None:
    begun, never = asyncio.Event(), asyncio.Event()

    async def gate(_key: SampleKey) -> None:
        begun.set()
        await never.wait()

    stage = Stage(CountingTrainer(), grader=GatedGrader(gate))
    run = asyncio.create_task(stage.run(MODES[mode](stage.context)))
    await asyncio.wait_for(begun.wait(), PATIENCE_S)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run, PATIENCE_S)
