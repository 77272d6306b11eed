"""Settings of the trainer's memory reach a job, and a job that does not fit ends with its code."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from app.jobs.jobs import JobStatus
from tests.support.supervised.runs import SupervisedRuns, chat_row
from workers.learning.backbone import Backbone
from workers.learning.batches import Layout

TRAIN = [chat_row(n) for n in range(12)]
ONE_STEP = {"n_epochs": 1, "batch_size": 12}


class Passes:
    """Records the passes through the layers; those of more than `limit` tokens do not fit."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.checkpointed: set[bool] = set()
        self.limit: int | None = None

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run = Backbone.__call__

        def begin(backbone: Backbone, ids_M: Tensor, layout: Layout) -> Tensor:
            layer = backbone._base.get_submodule("model.layers.0")
            self.checkpointed.add("forward" in vars(layer))
            if torch.is_grad_enabled():
                self.sizes.append(layout.tokens)
            if self.limit is not None and layout.tokens > self.limit:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB")
            return run(backbone, ids_M, layout)

        monkeypatch.setattr(Backbone, "__call__", begin)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    watched = Passes()
    watched.watch(monkeypatch)
    return watched


async def test_micro_batch_and_checkpointing_are_the_base_model_s_or_the_installation_s(
    runs: SupervisedRuns, passes: Passes
) -> None:
    own = {"micro_batch_tokens": 150, "checkpointing": True}
    spec = runs.engine.spec.model_copy(update=own)
    ended = await runs.run(await runs.job("supervised", TRAIN, hyperparameters=ONE_STEP), spec=spec)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert passes.checkpointed == {True}
    assert len(passes.sizes) > 3
    assert max(passes.sizes) <= 150

    settings = runs.world.settings
    limits = settings.runs.model_copy(update={"micro_batch_tokens": 300})
    world = replace(runs.world, settings=settings.model_copy(update={"runs": limits}))
    passes.sizes.clear()
    passes.checkpointed.clear()
    others = replace(runs, world=world)
    ended = await others.run(await others.job("supervised", TRAIN, hyperparameters=ONE_STEP))
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert passes.checkpointed == {False}
    assert 150 < max(passes.sizes) <= 300


async def test_a_job_whose_rows_do_not_fit_fails_with_the_setting_that_helps(
    runs: SupervisedRuns, passes: Passes
) -> None:
    passes.limit = 16  # enough for the check of the model at its start
    ended = await runs.run(await runs.job("supervised", TRAIN, hyperparameters=ONE_STEP))
    assert ended.status is JobStatus.FAILED
    assert ended.error is not None
    assert ended.error.code == "out_of_memory"
    assert "`checkpointing` of the base model" in str(ended.error.message)
    assert ended.attempts == 1, "no further attempt meets the same memory"
