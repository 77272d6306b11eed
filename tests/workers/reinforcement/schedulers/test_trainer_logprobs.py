"""In every mode a rollout gets the trainer's log-probs of its own tokens, and of no other one."""

import asyncio
from collections.abc import Callable

import pytest

from app.jobs.learning import AsyncOptions
from app.kit.ids import SampleKey
from app.rollouts.trajectory import ScoredRollout
from app.settings import shipped_model_dir
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S
from tests.support.reinforcement.scripted_modes import (
    CountingTrainer,
    GatedGrader,
    Stage,
    logprobs_of,
)
from workers.learning.lora_trainer import LoraTrainer
from workers.learning.trainer import TrainingSample
from workers.methods.schedulers.asynchronous import AsyncMode
from workers.methods.schedulers.mode import (
    Mode,
    SchedulerContext,
    StreamingMode,
    SyncMode,
    with_logprobs,
)

Build = Callable[[SchedulerContext], Mode]
MODES: list[Build] = [
    SyncMode,
    lambda context: StreamingMode(context, minibatches=1),
    lambda context: StreamingMode(context, minibatches=3),
    lambda context: AsyncMode(context, AsyncOptions(max_staleness=2)),
]
NAMES = ["sync", "streaming in one part", "streaming in three", "async"]


def trainer() -> LoraTrainer:
    return LoraTrainer(
        str(shipped_model_dir()), base_name="tiny", rank=4, alpha=8, learning_rate=1e-2, seed=0
    )


def own(rollout: ScoredRollout) -> list[float] | None:
    if rollout.advantage is None:
        return None
    rows = TrainingSample.of_rollout(rollout.trajectory, rollout.advantage)
    return [logprob for row in rows for logprob in logprobs_of(row)]


@cases("build", MODES, ids=NAMES)
async def test_each_rollout_has_its_own(build: Build) -> None:
    stage = Stage(CountingTrainer(), prompts=6, group=3, steps=3)
    outcomes = await stage.run(build(stage.context))
    rollouts = [rollout for outcome in outcomes for rollout in outcome.rollouts]
    found = [rollout.trainer_logprobs for rollout in rollouts]
    assert found == [own(rollout) for rollout in rollouts]
    digests = {tuple(row) for row in found if row is not None}
    assert len(digests) > 20, "a mix-up would be seen"


async def test_the_order_of_arrival_mixes_none_up() -> None:
    last = asyncio.Event()

    async def gate(key: SampleKey) -> None:
        if key.prompt_index == 0:  # the first prompt comes last
            await asyncio.wait_for(last.wait(), PATIENCE_S)

    loop = asyncio.get_running_loop()
    trainer = CountingTrainer(lambda: loop.call_soon_threadsafe(last.set))
    stage = Stage(trainer, prompts=4, group=4, steps=1, grader=GatedGrader(gate))
    (outcome,) = await stage.run(StreamingMode(stage.context, minibatches=2))
    assert [r.trainer_logprobs for r in outcome.rollouts] == [own(r) for r in outcome.rollouts]
    assert any(rollout.trainer_logprobs for rollout in outcome.rollouts[:4])


@cases("build", MODES, ids=NAMES)
async def test_they_are_those_that_the_trainer_computes_of_the_whole_rollout(build: Build) -> None:
    stage = Stage(trainer(), steps=1)
    (outcome,) = await stage.run(build(stage.context))
    before, trained = trainer(), 0
    for rollout in outcome.rollouts:
        if rollout.advantage is None:
            assert rollout.trainer_logprobs is None
        elif rollout.advantage:
            trained += 1
            expected = [
                logprob
                for row in rollout.trajectory.rows
                for logprob, is_sampled in zip(
                    before.logprobs(row.tokens), row.mask[1:], strict=True
                )
                if is_sampled
            ]
            assert rollout.trainer_logprobs == pytest.approx(expected, abs=1e-4)
    assert trained > 4


@cases("build", MODES, ids=NAMES)
async def test_groups_of_equal_rewards_have_none(build: Build) -> None:
    stage = Stage(CountingTrainer(), steps=2, grader=GatedGrader(equal=True))
    outcomes = await stage.run(build(stage.context))
    rollouts = [rollout for outcome in outcomes for rollout in outcome.rollouts]
    assert {rollout.trainer_logprobs for rollout in rollouts} == {None}


def test_log_probs_of_other_samples_are_an_error() -> None:
    with pytest.raises(ValueError, match="parallel"):
        with_logprobs([], [[-0.5]])
