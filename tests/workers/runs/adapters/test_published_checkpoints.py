"""The checkpoint that a real run publishes, and those that remain for callers and on disk."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from typing_extensions import override

from app.jobs.jobs import FILES_VALIDATED, JobStatus
from app.kit.egress import EgressReply, EgressRequest
from app.kit.errors import NotFound
from app.models.models import TunedModel
from app.models.service import ModelService, PermissionService
from tests.support.grading.judges import verdict
from tests.support.runs.real_run import ROWS, SPEC, RealRuns, Script
from tests.support.runs.world import BASE, World
from workers.job_child import job_run


def _models(runs: RealRuns) -> ModelService:
    return ModelService(
        runs.world.app, runs.world.inference, base_models=(SPEC,), tenant=runs.world.tenant
    )


async def test_the_best_is_published_and_what_fell_out_is_gone_with_its_files(
    runs: RealRuns,
) -> None:
    job = await runs.job(hyperparameters={"n_epochs": 3}, keep_checkpoints={"best": 2, "last": 1})
    rewards = (0.2, 0.3, 0.8, 0.8, 0.1, 0.4, 0.25, *(afresh := (0.15, 0.6)))
    ended = await runs.run(job, Script(valid=rewards))
    assert (ended.status, ended.step, ended.ended_early) == (JobStatus.SUCCEEDED, 6, None)
    checkpoints = await runs.checkpoints(job)
    assert [checkpoint.step for checkpoint in checkpoints] == [6, 3, 2]
    assert checkpoints[-1].metrics["full_valid_mean_reward"] == pytest.approx(0.8)

    published = str(ended.fine_tuned_model)
    names = {model.name for model in await _models(runs).all()} - {SPEC.name}
    assert names == {published, *(checkpoint.model_name for checkpoint in checkpoints)}
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        tuned = await unit.models.get(published)
        best = await unit.models.get(checkpoints[-1].model_name)
    assert tuned is not None
    assert best is not None
    assert (tuned.step, tuned.object_key) == (2, best.object_key), "of equals the earlier"

    dropped = f"{published}:ckpt-step-4"
    permissions = PermissionService(runs.world.app, runs.world.tenant)
    for call in (
        _models(runs).get(dropped),
        _models(runs).delete(dropped),
        permissions.grant(dropped, [runs.world.tenant.project_id]),
    ):
        with pytest.raises(NotFound) as caught:
            await call
        assert caught.value.code == "model_not_found"

    assert sorted(runs.adapters(job)) == [2, 3, 6]
    assert "step-000002" in tuned.object_key
    report = await runs.report(job)
    assert (report["step"], report["ended_early"]) == (2, None)
    assert report["rows_in_training"] == ROWS
    assert report["judged_apart"] == []
    validated = [event.message for event in await runs.events(job)][1:3]
    assert validated[0] == FILES_VALIDATED
    assert validated[1].startswith(f"{ROWS} rows of the validation file are in the training file")
    assert report["reward"]["base_mean"] == pytest.approx(afresh[0])
    assert report["reward"]["tuned_mean"] == pytest.approx(afresh[1]), "not the 0.8 of its choice"
    assert await runs.curve(job, "reward/mean", "report") == pytest.approx(
        {0: afresh[0], 2: afresh[1]}
    )
    for step in (0, 2):
        chosen, sampled = [await runs.rollouts(job, split, step) for split in ("valid", "report")]
        assert [row.prompt_index for row in sampled] == [row.prompt_index for row in chosen]
        assert [row.trace["messages"] for row in sampled] != [
            row.trace["messages"] for row in chosen
        ]
    async with runs.world.app.tenant(runs.world.tenant) as unit:
        assert len(await unit.checkpoints.all(job.id)) == 6, "every validation stays on record"


async def test_a_report_names_judges_that_saw_each_model_apart(runs: RealRuns) -> None:
    class Judging(Script):
        """Gives every rollout of a group the same score."""

        @override
        def __call__(self, request: EgressRequest) -> EgressReply:
            body = json.loads(request.body)
            if "messages" not in body:
                return super().__call__(request)
            ids = re.findall(r'<rollout id="(\d+)">', body["messages"][-1]["content"])
            said = verdict(body["messages"], dict.fromkeys(ids, 0.5))
            message = {"role": "assistant", "content": said}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            reply = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
            return EgressReply(200, {}, json.dumps(reply).encode(), 0.0)

    alone = {"type": "endpoint", "name": "g", "url": "http://grader.test/"}
    judge = {"type": "ai_judge", "model": "m", "base_url": "http://judge.test/v1"}
    parts = {"alone": alone, "judge": judge}
    grader = {"type": "multi", "graders": parts, "calculate_output": "(alone + judge) / 2"}
    job = await runs.job(grader=grader)
    ended = await runs.run(job, Judging(valid=(0.2, 0.4, 0.6, 0.2, 0.8)))
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    report = await runs.report(job)
    assert report["judged_apart"] == ["method.reinforcement.grader.graders.judge"]
    assert report["reward"]["difference"] == pytest.approx(0.3), "half of the endpoint's"


async def test_a_killed_comparison_is_continued_and_not_sampled_again(runs: RealRuns) -> None:
    job = await runs.job()
    validations, models, graded = 3 * ROWS, 2, 3
    work: list[asyncio.Task[None]] = []

    class Killing(Script):
        """Kills the run when the start is sampled and three answers of the published step are
        graded. A killed run gets no further grade, so that the rest is left for the next one,
        however quickly the three are written.
        """

        @override
        def __call__(self, request: EgressRequest) -> EgressReply:
            reply = super().__call__(request)
            if self.asked["valid"] > validations + ROWS + graded:
                work[0].cancel()
                raise asyncio.CancelledError
            return reply

    async with runs.context(job, Killing()) as context:
        work.append(asyncio.create_task(job_run(context).run()))
        await asyncio.gather(*work, return_exceptions=True)
    assert (await runs.world.read(job)).status is JobStatus.RUNNING
    script = Script()
    ended = await runs.run(job, script)
    assert ended.status is JobStatus.SUCCEEDED, ended.error
    assert script.asked["train"] == 0
    assert ROWS - graded <= script.asked["valid"] <= ROWS
    assert len(await runs.rollouts(job, "report")) == models * ROWS


async def test_a_checkpoint_that_was_shared_stays_whatever_comes_after_it(runs: RealRuns) -> None:
    rule = {"action": "pause", "steps": 1}
    job = await runs.job(
        hyperparameters={"n_epochs": 2},
        keep_checkpoints={"best": 1, "last": 0},
        stop={"max_steps": rule},
    )
    script = Script(valid=(0.1, 0.2, 0.9, 0.3, 0.3))
    paused = await runs.run(job, script)
    assert paused.status is JobStatus.PAUSED
    (first,) = await runs.checkpoints(job)
    tenant = runs.world.tenant
    await PermissionService(runs.world.app, tenant).grant(first.model_name, [tenant.project_id])
    await runs.resume(job)
    ended = await runs.run(job, script)
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 4)
    assert [checkpoint.step for checkpoint in await runs.checkpoints(job)] == [2, 1]
    assert (await _models(runs).get(first.model_name)).name == first.model_name
    async with runs.world.app.tenant(tenant) as unit:
        shared = await unit.models.get(first.model_name)
        tuned = await unit.models.get(str(ended.fine_tuned_model))
    assert shared is not None
    assert tuned is not None
    assert tuned.step == 2
    assert "step-000001" in shared.object_key
    assert sorted(runs.adapters(job)) == [1, 2], "the last step is nobody's"


async def test_a_deleted_model_leaves_the_engine(world: World) -> None:
    job = await world.job()
    names = [f"ft:t:o::{letter}" for letter in "abc"]
    async with (await world.context(job)).unit() as unit:
        for name in names:
            await unit.models.insert(
                TunedModel(name, "", job.id, BASE.name, f"model-{name[-1]}", "k", 2, 0)
            )
    models = ModelService(world.app, world.inference, base_models=(BASE,), tenant=world.tenant)
    await world.inference.load_adapter("model-a", Path("k"))
    await models.delete(names[0])
    assert world.inference.adapters == {}
    await models.delete(names[1])  # was never loaded
    world.inference.unavailable = True
    await models.delete(names[2])
    assert {model.name for model in await models.all()} == {BASE.name}
