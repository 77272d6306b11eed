"""Training overlaps sampling, parts fill in the order of arrival, and each step updates once."""

import asyncio

import pytest

from app.kit.ids import SampleKey
from app.rollouts import metrics as names
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S
from tests.support.reinforcement.scripted_modes import CountingTrainer, GatedGrader, Stage, keys_of
from workers.methods.schedulers.mode import StreamingMode


async def test_a_part_is_trained_while_the_last_group_is_still_sampled() -> None:
    trained = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def gate(key: SampleKey) -> None:
        if key.prompt_index == 0:  # the first prompt comes last
            await asyncio.wait_for(trained.wait(), PATIENCE_S)

    trainer = CountingTrainer(lambda: loop.call_soon_threadsafe(trained.set))
    stage = Stage(trainer, prompts=4, group=2, steps=1, grader=GatedGrader(gate))
    (outcome,) = await stage.run(StreamingMode(stage.context, minibatches=2))
    assert [call for call, _ in trainer.calls] == ["accumulate", "accumulate", "step"]
    assert [key[1:] for key in keys_of(outcome.rollouts)] == [
        (prompt, sample) for prompt in range(4) for sample in range(2)
    ], "whatever came first, the step keeps its order"
    assert outcome.values[names.STALENESS_MAX] == 0
    assert stage.checked == [8]
    assert 0 <= outcome.values[names.TRAINER_IDLE_SHARE] <= 1


@cases(("prompts", "minibatches", "calls"), [(5, 2, 2), (3, 8, 3), (4, 1, 1), (7, 3, 3)])
async def test_parts_hold_every_group_once(prompts: int, minibatches: int, calls: int) -> None:
    trainer = CountingTrainer()
    stage = Stage(trainer, prompts=prompts, group=3, steps=2)
    outcomes = await stage.run(StreamingMode(stage.context, minibatches=minibatches))
    trained = sum(count for call, count in trainer.calls if call == "accumulate")
    groups = sum(outcome.values[names.GROUPS_TRAINED] for outcome in outcomes)
    assert trained == groups * 3
    assert [call for call, _ in trainer.calls].count("step") == 2
    assert [call for call, _ in trainer.calls].count("accumulate") <= 2 * calls
    seen = [key for outcome in outcomes for key in keys_of(outcome.rollouts)]
    assert len(seen) == len(set(seen)) == 2 * prompts * 3


async def test_groups_that_train_nothing_fill_their_part() -> None:
    trainer = CountingTrainer()
    stage = Stage(trainer, steps=2, grader=GatedGrader(equal=lambda _: True))
    outcomes = await stage.run(StreamingMode(stage.context, minibatches=2))
    assert [call for call, _ in trainer.calls] == ["step", "step"]
    assert outcomes[0].values[names.GROUPS_ZERO_VARIANCE] == 4
    assert outcomes[0].trained_tokens == 0


async def test_an_internal_fault_ends_the_step() -> None:
    async def gate(key: SampleKey) -> None:
        if key.prompt_index == 2:
            raise ConnectionAbortedError

    stage = Stage(CountingTrainer(), grader=GatedGrader(gate))
    with pytest.raises(ConnectionAbortedError):
        await stage.run(StreamingMode(stage.context, minibatches=2))
    assert ("step", 0) not in stage.trainer.calls
