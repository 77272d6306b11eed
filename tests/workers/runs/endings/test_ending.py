"""Ends besides success, and the retry of a run after a fault of the service."""

import json
from dataclasses import replace

import pytest
from typing_extensions import override

from app.jobs.jobs import Caps, Job, JobStatus, Usage
from app.kit.egress import EgressReply, EgressRequest
from app.kit.errors import LeaseLost, RunFailed
from app.kit.leases import Lease
from app.models.engine import EngineUnavailable
from app.rollouts.metrics import MetricPoint
from tests.support.cases import cases
from tests.support.runs.real_run import QUIET, RealRuns, Script
from tests.support.runs.world import World
from workers.job_child import job_run
from workers.runs.context import RunContext
from workers.runs.job import RunEnding


class AbsentEarnsNothing(Script):
    @override
    def __call__(self, request: EgressRequest) -> EgressReply:
        if json.loads(request.body)["item"].get("tags"):
            return EgressReply(200, {}, b'{"score": 0.0}', 0.0)
        return super().__call__(request)


def _ending(context: RunContext, job: Job) -> RunEnding:
    lease = Lease(job.id, job.project_id, context.fence)
    return RunEnding(context.database, context.objects, lease)


async def test_an_internal_fault_is_retried_and_the_last_attempt_has_its_reason(
    world: World,
) -> None:
    job = await world.job()
    fault = EngineUnavailable("The engine is unavailable.")
    assert not await _ending(await world.context(job), job).exhausted(fault, max_attempts=2)
    assert (await world.read(job)).status is JobStatus.VALIDATING_FILES
    assert await _ending(await world.context(job), job).exhausted(fault, max_attempts=2)
    failed = await world.read(job)
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert (failed.error.code, failed.error.message) == (
        "internal_error",
        "The run met an internal error 2 times without progress: The engine is unavailable.",
    )


async def test_a_last_attempt_with_metrics_has_its_result_file(world: World) -> None:
    job = await world.job()
    context = await world.context(job)
    async with context.unit() as unit:
        await unit.metrics.upsert(job.id, [MetricPoint("reward/mean", "train", 1, 0.5)])
    assert await _ending(context, job).exhausted(EngineUnavailable("unavailable"), max_attempts=1)
    (file_id,) = (await world.read(job)).result_files
    async with world.app.tenant(world.tenant) as unit:
        row = await unit.files.get(file_id)
    header, first = (world.settings.objects_dir / row.object_key).read_text().splitlines()
    values = dict(zip(header.split(","), first.split(","), strict=True))
    assert (values["step"], values["train_mean_reward"]) == ("1", "0.5")


async def test_the_text_of_an_unknown_fault_stays_in_the_service(world: World) -> None:
    job = await world.job()
    fault = KeyError("/secret/path of this machine")
    assert await _ending(await world.context(job), job).exhausted(fault, max_attempts=1)
    assert (await world.messages(job)) == [
        "The run met an internal error 1 times without progress: KeyError"
    ]


@cases(
    ("valid", "verdict", "level", "words"),
    [
        (
            (0.1, 0.1, 0.1, 0.1, 0.9),  # base, two steps, and the two models of the report
            *(
                "gain",
                "info",
                "The report has a gain in reward of +0.8 over 10 rows, 95 % interval",
            ),
        ),
        (
            (0.5,),
            *("no_clear_gain", "warn", "No clear gain in reward: +0 over 10 rows, 95 % interval"),
        ),
    ],
)
async def test_the_last_event_says_whether_the_report_shows_a_gain(
    runs: RealRuns, valid: tuple[float, ...], verdict: str, level: str, words: str
) -> None:
    job = await runs.job(stop=QUIET, nothing_to_learn={"action": "off"})
    ended = await runs.run(job, Script(valid=valid))
    assert (ended.status, ended.verdict) == (JobStatus.SUCCEEDED, verdict)
    completed, last = (await runs.events(job))[-2:]
    assert completed.message == "The job has successfully completed"
    assert (last.level, last.data) == (level, {"verdict": verdict})
    assert last.message.startswith(words)
    assert (await runs.report(job))["verdict"] == verdict


async def test_rows_of_a_tag_that_never_earn_are_told(runs: RealRuns) -> None:
    """Half of the rows are tagged, and the grader gives them nothing."""
    tagged = [{**row, "tags": ["absent"]} if n % 2 else row for n, row in enumerate(runs.rows)]
    job = await replace(runs, rows=tagged).job(
        stop={**QUIET, "never_earned": {"steps": 2}}, hyperparameters={"n_epochs": 3}
    )
    await runs.run(job, AbsentEarnsNothing())
    assert set((await runs.curve(job, "reward/tag/absent")).values()) == {0.0}
    (told,) = [event for event in await runs.events(job) if "stop_rule" in (event.data or {})]
    assert told.level == "warn"
    assert "did better than 0 in reward/tag/absent: what is never sampled" in told.message


async def test_an_overtaken_claim_ends_nothing(world: World) -> None:
    job = await world.job()
    old = await world.context(job)
    await world.context(job)
    with pytest.raises(LeaseLost):
        await _ending(old, job).failed(RunFailed("no", code="x"))
    assert (await world.read(job)).status is JobStatus.VALIDATING_FILES


async def test_a_pause_by_a_cap_names_which_and_how_to_continue(world: World) -> None:
    job = await world.job()
    reached = Caps(max_training_time_s=5).reached(Usage(training_time_s=6.25))
    await _ending(await world.context(job), job).paused(reached)
    assert (await world.read(job)).status is JobStatus.PAUSED
    (said,) = await world.messages(job)
    assert said == (
        "Fine-tuning job paused: max_training_time_s of 5 is reached (6.2 used). Nothing is lost; "
        "resume it with a higher max_training_time_s to go on: "
        f'POST /v1/fine_tuning/jobs/{job.id}/resume {{"max_training_time_s": …}}'
    )


async def test_a_job_that_fails_after_some_steps_leaves_what_it_learned(world: World) -> None:
    job = await world.job()
    first = await world.context(job)
    async with first.unit() as unit:
        await unit.metrics.upsert(job.id, [MetricPoint("reward/mean", "train", 1, 0.5)])
    await job_run(await world.context(job)).run()  # its files do not exist
    failed = await world.read(job)
    assert failed.error is not None
    assert failed.error.code == "invalid_training_file"
    (file_id,) = failed.result_files
    async with world.app.tenant(world.tenant) as unit:
        row = await unit.files.get(file_id)
    content = (world.settings.objects_dir / row.object_key).read_text()
    assert content.splitlines()[1].startswith("1,0.5,,")
