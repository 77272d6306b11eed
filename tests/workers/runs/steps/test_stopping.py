"""Rules that end real runs: what they leave, and what a kill or a resume makes of them."""

import pytest

from app.jobs.jobs import Job, JobStatus
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import QUIET, RealRuns, Script
from workers.runs.reporter import Reporter


async def _said(runs: RealRuns, job: Job) -> list[tuple[str, str, int]]:
    return [
        (event.data["stop_rule"], event.data["action"], event.data["step"])
        for event in await runs.events(job)
        if event.data is not None and "stop_rule" in event.data
    ]


async def test_a_target_ends_the_job_with_success_and_names_the_reason(runs: RealRuns) -> None:
    job = await runs.job(stop={**QUIET, "target": {"value": 0.5}}, hyperparameters={"n_epochs": 10})
    ended = await runs.run(job, Script(valid=(0.1, 0.3, 0.9)))
    assert (ended.status, ended.step, ended.total_steps) == (JobStatus.SUCCEEDED, 2, 20)
    why = {
        "rule": "target",
        "action": "stop",
        "step": 2,
        "reason": "validation reward/mean of 0.9 has reached the target of 0.5",
    }
    assert ended.ended_early == why
    assert ended.method.options["stop"]["target"] == {"action": "stop", "value": 0.5}
    (event,) = [e for e in await runs.events(job) if e.data and "stop_rule" in e.data]
    assert (event.level, event.type, event.data) == (
        "info",
        "message",
        {"stop_rule": "target", **why},
    )
    assert (
        event.message == f"Ending the job early after step 2 by the rule 'target': {why['reason']}"
    )
    report = await runs.report(job)
    assert (report["step"], report["ended_early"]) == (2, why)
    assert report["reward"]["tuned_mean"] == pytest.approx(0.9)


async def test_a_job_ended_where_no_validation_was_due_is_validated_once(runs: RealRuns) -> None:
    job = await runs.job(
        stop={**QUIET, "max_steps": {"steps": 1}},
        hyperparameters={"n_epochs": 2, "eval_interval": 3},
    )
    script = Script(valid=(0.1, 0.4))
    ended = await runs.run(job, script)
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 1)
    assert script.asked["valid"] == 20 + 20, "two validations, and the report's two models"
    assert await runs.curve(job, "reward/mean", "valid") == pytest.approx({0: 0.1, 1: 0.4})
    (checkpoint,) = await runs.checkpoints(job)
    assert checkpoint.step == 1
    assert checkpoint.metrics["full_valid_mean_reward"] == pytest.approx(0.4)
    assert ended.usage is not None
    assert ended.usage.rollouts == 20 + 10 + 20
    report = await runs.report(job)
    assert (report["step"], report["rows"]) == (1, 10)


async def test_a_rules_pause_can_be_resumed_and_needs_new_evidence(runs: RealRuns) -> None:
    rule = {"evaluations": 1, "min_improvement": 0.05, "action": "pause"}
    job = await runs.job(stop={**QUIET, "plateau": rule}, hyperparameters={"n_epochs": 3})
    script = Script(valid=(0.5, 0.5, 0.6, 0.6, 0.7, 0.8, 0.8))
    paused = await runs.run(job, script)
    assert (paused.status, paused.step) == (JobStatus.PAUSED, 1)
    last = (await runs.events(job))[-1]
    assert (last.level, last.data and last.data["paused_by_rule"]) == ("warn", "plateau")
    assert last.message.startswith("Fine-tuning job paused by the rule 'plateau': validation ")
    assert f"/v1/fine_tuning/jobs/{job.id}/resume" in last.message
    await runs.resume(job)
    again = await runs.run(job, script)
    assert (again.status, again.step) == (JobStatus.PAUSED, 3), "step 2 was better"
    await runs.resume(job)
    ended = await runs.run(job, script)
    assert (ended.status, ended.step, ended.ended_early) == (JobStatus.SUCCEEDED, 6, None)
    assert await _said(runs, job) == [("plateau", "pause", step) for step in (1, 3, 6)], (
        "what is found after the last step changes nothing"
    )


async def test_steps_without_different_rewards_are_warned_about_once(runs: RealRuns) -> None:
    """A model of random weights, which no turn of 8 tokens ends: three rules see that at once."""
    rule = {"steps": 2, "action": "warn"}
    job = await runs.job(
        stop={
            **QUIET,
            "zero_variance": rule,
            "limit_stops": {"steps": 1},
            "nothing_trained": {"steps": 3},
        },
        hyperparameters={"n_epochs": 2},
        objective={"token_penalty": 0.0},
    )
    ended = await runs.run(job, Script(train=lambda _: 0.5))
    assert (ended.status, ended.step) == (JobStatus.FAILED, 4)
    assert await _said(runs, job) == [
        ("limit_stops", "warn", 1),
        ("zero_variance", "warn", 2),
        ("nothing_trained", "warn", 3),
    ]
    assert ended.ended_early is None


@pytest.mark.parametrize("action", [pytest.param("pause", marks=pytest.mark.long), "stop"])
async def test_what_was_found_before_a_kill_is_done_by_the_next_claim(
    runs: RealRuns, action: str
) -> None:
    """The claim crashes between the commit of the step and the end that a rule asked for."""
    job = await runs.job(
        stop={**QUIET, "max_steps": {"steps": 1, "action": action}}, hyperparameters={"n_epochs": 5}
    )

    def has_fired(reporter: Reporter) -> bool:
        return reporter.stopping.due is not None

    async with runs.context(job, Script()) as context:
        with pytest.raises(RunKilled):
            await interrupted_run(context, before_step=has_fired).run()
    assert (await runs.world.read(job)).status is JobStatus.RUNNING
    assert await _said(runs, job) == [("max_steps", action, 1)]
    script = Script()
    ended = await runs.run(job, script)
    assert (ended.status, ended.step) == (
        JobStatus.PAUSED if action == "pause" else JobStatus.SUCCEEDED,
        1,
    )
    assert script.asked["train"] == 0, "not one rollout more"
    assert await _said(runs, job) == [("max_steps", action, 1)]
