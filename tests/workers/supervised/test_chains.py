"""Jobs that start from what another job tuned."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from app.accounts.accounts import Project
from app.jobs.jobs import Job, JobStatus
from app.kit.errors import RunFailed
from app.kit.ids import ProjectId, new_id
from app.models.service import PermissionService
from tests.support import stack
from tests.support.learning.adapter_weights import distance
from tests.support.runs.real_run import Script
from tests.support.store.leased_kinds import connect
from tests.support.supervised.runs import SupervisedRuns, chat_row, pair_row

CHATS = ([chat_row(n) for n in range(12)], [chat_row(n) for n in range(20, 30)])
PAIRS = ([pair_row(n) for n in range(12)], [pair_row(n) for n in range(50, 60)])
FAST = {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": 5}


def _tensors(adapter: Path) -> dict[str, torch.Tensor]:
    return load_file(adapter / "adapter_model.safetensors")


def _config(adapter: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((adapter / "adapter_config.json").read_text())
    return config


def _delete(database: stack.Database, job: Job) -> None:
    """Deletes a job's model as a request does that was decided before the next job began; one that
    comes later is refused.
    """
    with connect(database) as connection:
        connection.execute(
            "UPDATE tuned_models SET deleted_at = now() WHERE name = %s", (job.fine_tuned_model,)
        )


async def _tuned(runs: SupervisedRuns) -> Job:
    job = await runs.run(await runs.job("supervised", *CHATS, hyperparameters=FAST))
    assert job.status is JobStatus.SUCCEEDED, job.error
    return job


async def test_reinforcement_continues_from_a_supervised_model(runs: SupervisedRuns) -> None:
    first = await _tuned(runs)
    start = await runs.published(first)
    rows = [
        [
            {"messages": [{"role": "user", "content": f"part P{n}?"}], "held_out": held_out}
            for n in range(10)
        ]
        for held_out in (False, True)
    ]
    second = await runs.job(
        "reinforcement",
        *rows,
        model=first.fine_tuned_model,
        grader={"type": "endpoint", "name": "g", "url": "http://grader.test/"},
        hyperparameters={
            "learning_rate_multiplier": 0.001,
            "n_epochs": 1,
            "batch_size": 5,
            "compute_multiplier": 0.25,
            "eval_interval": 9,
        },
    )
    other_rank = runs.engine.spec.model_copy(update={"lora_rank": 4, "lora_alpha": 16})
    # Ten rows each: the start sampled, the start greedy, the base; the tuned model sampled and
    # greedy; and for the report the start and the tuned model once more.
    script = Script(valid=(0.25, 0.25, 0.75, 0.5, 0.5, 0.25, 0.5))
    ended = await runs.run(second, spec=other_rank, script=script)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert ended.model == first.fine_tuned_model
    assert str(ended.fine_tuned_model).startswith("ft:tiny-2026:one:")

    result = await runs.published(ended)
    assert (_config(result)["r"], _config(result)["lora_alpha"]) == (2, 4), "the start's own"
    moved = distance(_tensors(result), _tensors(start))
    assert 0 < moved < 1e-4, "one small step from where the other job ended"
    ratios = await runs.read.curve(second, "train/sampler_max_abs_log_ratio")
    assert ratios[1] < 1e-3, "the first step was sampled from the start, not from the bare base"
    baseline = await runs.read.rollouts(second, "valid", 0)
    assert {row.policy_version for row in baseline} == {0}
    report = await runs.read.report(second)
    assert (report["base_model"], report["start_model"]) == ("tiny-2026", first.fine_tuned_model)
    assert report["reward"]["start_mean"] == 0.25
    assert report["reward"]["base_mean"] == 0.75, "measured, not the start's"
    assert report["reward"]["tuned_mean"] == 0.5
    assert report["greedy"]["reward"]["base_mean"] is None
    base = await runs.read.rollouts(second, "valid_base", 0)
    assert {row.prompt_index for row in base} == set(range(10))
    sampled = {row.prompt_index: row.trace["messages"] for row in baseline}
    assert any(row.trace["messages"] != sampled[row.prompt_index] for row in base)
    assert await runs.read.curve(second, "reward/mean", "valid_base") == {0: 0.75}
    reported = [one.message for one in await runs.read.events(second) if "model" in one.message]
    assert reported[:2] == [
        f"Start model {first.fine_tuned_model}: full validation mean reward=0.25",
        "Base model: full validation mean reward=0.75",
    ]


async def test_preferences_compare_with_the_model_they_start_from(
    runs: SupervisedRuns, database: stack.Database
) -> None:
    first = await _tuned(runs)
    job = await runs.job("dpo", *PAIRS, model=first.fine_tuned_model, hyperparameters=FAST)
    await runs.killed_at(job, 1)
    _delete(database, first)
    ended = await runs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, "a run that has begun has a copy of its start"
    curve = await runs.read.curve(job, "train/loss", "valid")
    assert curve[0] == pytest.approx(0.693147, abs=1e-5)
    assert curve[6] < curve[0]


async def test_a_start_that_is_gone_ends_the_job_with_the_reason(
    runs: SupervisedRuns, database: stack.Database
) -> None:
    first = await _tuned(runs)
    job = await runs.job("supervised", *CHATS, model=first.fine_tuned_model)
    _delete(database, first)
    with pytest.raises(RunFailed) as caught:
        await runs.run(job)
    assert (caught.value.code, caught.value.param) == ("model_not_available", "model")
    assert str(first.fine_tuned_model) in caught.value.message


async def test_a_start_whose_base_model_is_not_offered_ends_the_job_until_it_is_again(
    runs: SupervisedRuns,
) -> None:
    first = await _tuned(runs)
    renamed = runs.engine.spec.model_copy(update={"name": "tiny-2027"})
    job = await runs.job("supervised", *CHATS, model=first.fine_tuned_model, hyperparameters=FAST)
    with pytest.raises(RunFailed) as caught:
        await runs.run(job, spec=renamed)
    assert (caught.value.code, caught.value.param) == ("model_not_available", "model")
    for part in ("'tiny-2026' is not offered any more", "AGENT_RFT_BASE_MODELS"):
        assert part in caught.value.message
    again = await runs.job("supervised", *CHATS, model=first.fine_tuned_model, hyperparameters=FAST)
    ended = await runs.run(again)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    of_base = (await runs.read.curve(first, "train/loss", "valid"))[0]
    report = await runs.read.report(ended)
    assert report["full_valid_loss"]["base"] == pytest.approx(of_base, abs=1e-5)
    assert report["full_valid_loss"]["start"] != pytest.approx(of_base, abs=0.1)
    assert report["loss"]["start_mean"] != pytest.approx(report["loss"]["base_mean"], abs=0.1)


async def test_a_model_that_another_project_shares_is_a_start(runs: SupervisedRuns) -> None:
    first = await _tuned(runs)
    owner = runs.world.tenant
    other = ProjectId(new_id("proj_"))
    async with runs.world.app.organization(owner.organization_id) as unit:
        await unit.projects.insert_project(
            Project(id=other, organization_id=owner.organization_id, name="q", created_at=0)
        )
    name = str(first.fine_tuned_model)
    theirs = SupervisedRuns(
        replace(runs.world, tenant=replace(owner, project_id=other)), runs.engine
    )
    unshared = await theirs.job("supervised", *CHATS, model=name)
    with pytest.raises(RunFailed, match="is not shared"):
        await theirs.run(unshared)
    await PermissionService(runs.world.app, owner).grant(name, [other])
    job = await theirs.job("supervised", *CHATS, model=name, hyperparameters=FAST)
    ended = await theirs.run(job)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    ours = await runs.read.curve(first, "train/loss", "valid")
    assert (await theirs.read.curve(job, "train/loss", "valid"))[0] == ours[6]
