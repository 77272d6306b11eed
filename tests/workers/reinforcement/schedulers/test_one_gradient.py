"""No mode changes what a sample's gradient is: the same rollouts, the same adapter."""

from collections.abc import Callable
from typing import cast

import pytest
import torch
from torch import Tensor

from app.jobs.learning import AsyncOptions
from app.rollouts import metrics as names
from app.settings import shipped_model_dir
from tests.support.learning.tensors import assert_close, assert_equal
from tests.support.reinforcement.scripted_modes import CountingTrainer, GatedGrader, Stage
from workers.learning.lora_trainer import LoraTrainer
from workers.methods.schedulers.asynchronous import AsyncMode
from workers.methods.schedulers.mode import Mode, SchedulerContext, StreamingMode, SyncMode

Build = Callable[[SchedulerContext], Mode]


def trainer(*, plain: bool = False) -> LoraTrainer:
    made = LoraTrainer(
        str(shipped_model_dir()), base_name="tiny", rank=4, alpha=8, learning_rate=1e-2, seed=0
    )
    if plain:
        sgd = torch.optim.SGD(made.parameters.values(), lr=1.0)
        made._optimizer = cast("torch.optim.AdamW", sgd)
    return made


async def adapter(build: Build, *, plain: bool = False, steps: int = 3) -> dict[str, Tensor]:
    stage = Stage(trainer(plain=plain), steps=steps)
    await stage.run(build(stage.context))
    assert stage.trainer.steps == steps
    return {name: p.detach().clone() for name, p in stage.trainer.parameters.items()}


@pytest.fixture(scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    "build",
    [
        lambda context: StreamingMode(context, minibatches=1),
        lambda context: AsyncMode(context, AsyncOptions(max_staleness=1)),
        lambda context: AsyncMode(context, AsyncOptions(max_staleness=4)),
    ],
    ids=["streaming in one part", "async 1", "async 4"],
)
async def test_the_adapter_of_sync_to_the_bit(build: Build) -> None:
    expected = await adapter(SyncMode)
    found = await adapter(build)
    untrained = trainer().parameters
    assert any(not torch.equal(expected[name], untrained[name]) for name in expected)
    assert_equal(found, expected)


@pytest.mark.parametrize(
    "build",
    [
        SyncMode,
        lambda context: StreamingMode(context, minibatches=2),
        lambda context: AsyncMode(context, AsyncOptions(max_staleness=1)),
    ],
    ids=["sync", "streaming", "async"],
)
async def test_groups_of_equal_rewards_divide_the_step_too(build: Build) -> None:
    trainer = CountingTrainer()
    grader = GatedGrader(equal=lambda key: key.prompt_index % 2 == 1)
    stage = Stage(trainer, prompts=4, steps=1, grader=grader)
    (outcome,) = await stage.run(build(stage.context))
    counts = [0, 0]
    for rollout in outcome.rollouts:
        counts[rollout.key.prompt_index % 2] += rollout.trajectory.completion_tokens
    assert (outcome.trained_tokens, trainer.further_tokens) == (counts[0], [counts[1]])
    assert outcome.values[names.TRAINED_TOKENS] == sum(counts)
    assert min(counts) > 0


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("minibatches", [2, 3, 4])
async def test_streamed_parts_differ_in_the_order_of_sums_only(minibatches: int) -> None:
    """Parts are packed and summed apart, so rounding differs. Plain descent without moments shows
    the gradient itself: Adam would blow the rounding of gradients near 0 up to whole steps.
    """
    expected = await adapter(SyncMode, plain=True, steps=2)
    found = await adapter(
        lambda context: StreamingMode(context, minibatches=minibatches), plain=True, steps=2
    )
    start = trainer().parameters
    assert max(float((p.detach() - expected[n]).abs().max()) for n, p in start.items()) > 1e-3
    assert_close(found, expected, rtol=0, atol=1e-6)
