"""A step is written whole and once, also when the answer to its commit is lost."""

import asyncio
import dataclasses
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app.database import Database, RunUnitOfWork
from app.jobs.jobs import Job, JobStatus, ResumePoint
from app.kit.errors import LeaseLost, Unavailable
from app.rollouts.metrics import (
    DISCARDED_COUNT,
    GRAD_NORM,
    LOSS,
    PROBE_MAX_DIFF,
    REASONING_TOKENS_MEAN,
    REWARD_MEAN,
    ROLLOUTS_VALID,
    TIME_PUBLISH,
    TIME_SAMPLING,
    TIME_STEP,
    TIME_TRAINING,
)
from app.rollouts.rollouts import RolloutFilter
from app.settings import PricingSettings
from tests.support.reinforcement.scored_rollouts import scored
from tests.support.runs.journals import journal_of
from tests.support.runs.world import World, plan
from workers.job_child import build_method
from workers.methods.reinforcement.step_summary import SampledStep, SampledValidation
from workers.runs.context import RunContext
from workers.runs.method import build_reporter
from workers.runs.reporter import Reporter
from workers.runs.step_outcome import PublishedAdapter, StepOutcome


class AnswerLost:
    """A database whose next commit succeeds without a reply."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.lost = 0

    @asynccontextmanager
    async def run(self, project_id: str, job_id: str, fence: int) -> AsyncIterator[RunUnitOfWork]:
        async with self._database.run(project_id, job_id, fence) as unit:
            yield unit
        if self.lost == 0:
            self.lost += 1
            raise Unavailable("The connection was lost after COMMIT was sent.")


def _reporter(context: RunContext) -> Reporter:
    return build_reporter(context, build_method(context), tuned_name="ft:tiny")


def _losing(context: RunContext) -> tuple[RunContext, AnswerLost]:
    database = AnswerLost(context.database)
    return dataclasses.replace(context, database=database), database  # type: ignore[arg-type]  # a twin that counts transactions


def _outcome(job: Job, step: int) -> StepOutcome:
    rollouts = [scored(("train", step, 4, n), float(n), job_id=job.id) for n in range(2)]
    held_out = [scored(("valid", step, 0, 0), 0.5, job_id=job.id)]
    return StepOutcome(
        SampledStep(
            step, {REWARD_MEAN: 0.5}, trained_tokens=4, rollouts=[] if step == 0 else rollouts
        ),
        PublishedAdapter(f"step-{step}/adapter", f"step-{step}/state"),
        SampledValidation({REWARD_MEAN: 0.5}, rollouts=held_out),
        seconds=1.0,
    )


async def _ledger(world: World, job: Job) -> list[tuple[str, int, int, int]]:
    async with world.app.tenant(world.tenant) as unit:
        rows, _ = await unit.rollouts.page(job.id, RolloutFilter(), after=None, limit=100)
    return [(row.split, row.step, row.prompt_index, row.sample_index) for row in rows]


async def test_a_commit_of_unknown_outcome_counts_once(world: World) -> None:
    job = await world.job()
    context, database = _losing(await world.context(job))
    async with context.database.run(job.project_id, job.id, context.fence) as unit:
        await unit.jobs.mark_validated(4, job.method)
        await unit.jobs.mark_running()
        database.lost = 1
    database.lost = 0
    await journal_of(context, 1).put("turn", "sha", {})
    database.lost = 0

    reporter = _reporter(context)
    await reporter.commit_step(_outcome(job, 1), total_steps=plan().total_steps, pace_s=10.0)

    assert database.lost == 1
    assert await _ledger(world, job) == [("train", 1, 4, 0), ("train", 1, 4, 1), ("valid", 1, 0, 0)]
    after = await world.read(job)
    assert (after.step, after.trained_tokens, after.attempts) == (1, 4, 0)
    steps_left = plan().total_steps - 1
    assert after.estimated_finish == pytest.approx(time.time() + 10 * steps_left, abs=3)
    assert len(await world.messages(job)) == 1
    async with world.app.tenant(world.tenant) as unit:
        checkpoints, _ = await unit.checkpoints.page(job.id, after=None, limit=10)
        curve = await unit.metrics.curve(job.id, names=None, split=None, after_step=None)
        models = await unit.models.all()
    assert [c.model_name for c in checkpoints] == ["ft:tiny:ckpt-step-1"]
    assert [(m.name, m.object_key) for m in models] == [("ft:tiny:ckpt-step-1", "step-1/adapter")]
    assert [(p.name, p.split, p.value) for p in curve] == [
        (REWARD_MEAN, "train", 0.5),
        (REWARD_MEAN, "valid", 0.5),
        (TIME_STEP, "train", 1.0),
    ]
    journal = journal_of(await world.context(job), 1)
    await journal.load()
    assert await journal.get("turn", "sha") is None


async def test_an_overtaken_claim_commits_nothing(world: World) -> None:
    job = await world.job()
    old, new = await world.context(job), await world.context(job)
    with pytest.raises(LeaseLost):
        await _reporter(old).commit_step(
            _outcome(job, 1), total_steps=plan().total_steps, pace_s=1.0
        )
    assert await _ledger(world, job) == []
    await _reporter(new).commit_step(_outcome(job, 1), total_steps=plan().total_steps, pace_s=1.0)
    assert (await world.read(job)).step == 1


async def test_a_step_another_claim_committed_is_left_alone(world: World) -> None:
    job = await world.job()
    await _reporter(await world.context(job)).commit_step(
        _outcome(job, 1), total_steps=plan().total_steps, pace_s=1
    )
    late = dataclasses.replace(
        _outcome(job, 1), adapter=PublishedAdapter("elsewhere/adapter", "elsewhere/state")
    )
    context = await world.context(job)
    await _reporter(context).commit_step(late, total_steps=plan().total_steps, pace_s=1)
    async with context.unit() as unit:
        assert await unit.jobs.resume_point() == ResumePoint(1, "step-1/state", "step-1/adapter")


async def test_a_baseline_of_unknown_outcome_counts_once(world: World) -> None:
    job = await world.job()
    context, database = _losing(await world.context(job))
    reporter = _reporter(context)
    await reporter.commit_baseline(_outcome(job, 0))
    assert database.lost == 1
    assert await reporter.has_baseline()
    assert await _ledger(world, job) == [("valid", 0, 0, 0)]
    assert await world.messages(job) == ["Base model: full validation mean reward=0.50"]


async def test_a_message_is_appended_once_over_lost_answers_and_claims(world: World) -> None:
    job = await world.job()
    context, database = _losing(await world.context(job))
    await _reporter(context).message_once("Validating training file: file-a")
    await _reporter(await world.context(job)).message_once("Validating training file: file-a")
    assert database.lost == 1
    assert await world.messages(job) == ["Validating training file: file-a"]
    assert (await world.read(job)).status is JobStatus.VALIDATING_FILES


async def test_a_value_that_is_not_finite_reaches_no_curve_and_no_event(world: World) -> None:
    job = await world.job()
    outcome = _outcome(job, 1)
    outcome.trained.values.update({LOSS: math.nan, REWARD_MEAN: math.inf, GRAD_NORM: 2.0})
    outcome.validation.values[LOSS] = -math.inf
    reporter = _reporter(await world.context(job))
    await reporter.commit_step(outcome, total_steps=plan().total_steps, pace_s=1.0)
    async with world.app.tenant(world.tenant) as unit:
        curve = await unit.metrics.curve(job.id, names=None, split=None, after_step=None)
        events, _ = await unit.events.page(job.id, after=None, limit=10)
    [event] = [event for event in events if event.type == "metrics"]
    [warning] = [event for event in events if event.level == "warn"]
    assert [(point.name, point.split) for point in curve] == [
        (REWARD_MEAN, "valid"),
        (TIME_STEP, "train"),
        (GRAD_NORM, "train"),
    ]
    assert (warning.level, warning.message) == (
        "warn",
        "The validation of step 1 gave no finite value of train/loss.",
    )
    assert event.type == "metrics"
    assert event.message == (
        "Step 1/40, full validation mean reward=0.50, full validation mean parse error=0.00"
    )
    assert event.data is not None
    assert event.data["train_mean_reward"] is None


async def test_no_part_of_a_step_carries_a_value_that_is_not_finite(world: World) -> None:
    job = await world.job()
    outcome = _outcome(job, 1)
    bad = {ROLLOUTS_VALID: math.nan, REASONING_TOKENS_MEAN: 3.0, DISCARDED_COUNT: 1.0}
    outcome.trained.values.update(bad)
    outcome.validation.values.update(bad)
    assert outcome.adapter is not None
    outcome.adapter.values.update({PROBE_MAX_DIFF: math.nan, TIME_PUBLISH: 2.0})
    validation = dataclasses.replace(outcome.validation, seconds=math.nan)
    outcome = dataclasses.replace(outcome, validation=validation, seconds=math.inf)
    reporter = _reporter(await world.context(job))
    await reporter.commit_step(outcome, total_steps=plan().total_steps, pace_s=1.0)
    async with world.app.tenant(world.tenant) as unit:
        curve = await unit.metrics.curve(job.id, names=None, split="train", after_step=None)
        events, _ = await unit.events.page(job.id, after=None, limit=10)
    assert {point.name for point in curve} == {
        *(DISCARDED_COUNT, REWARD_MEAN, REASONING_TOKENS_MEAN, TIME_PUBLISH)
    }
    [metrics] = [event for event in events if event.type == "metrics"]
    assert metrics.data is not None
    assert metrics.data["timing"]["step"] == {
        "eval": 0.0,
        "sampling": 0.0,
        "training": 0.0,
        "full_iteration": 0.0,
    }
    usage = (await world.read(job)).usage
    assert usage is not None
    assert usage.evaluation_time_s == 0.0
    assert [event.message for event in events if event.level == "warn"] == [
        "The validation of step 1 gave no finite value of rollouts/valid."
    ]


async def test_a_baseline_without_a_finite_value_is_committed_once(world: World) -> None:
    job = await world.job()
    measured = _outcome(job, 0)
    nothing = dataclasses.replace(
        measured.validation, values={REWARD_MEAN: math.nan, LOSS: math.inf}, seconds=2.0
    )
    outcome = dataclasses.replace(measured, adapter=None, validation=nothing)
    for _ in range(2):
        reporter = _reporter(await world.context(job))
        await reporter.commit_baseline(outcome)
        assert await reporter.has_baseline()
        assert not await reporter.was_validated(1)
    assert sorted(await world.messages(job)) == [
        "Base model: full validation mean reward=none",
        "The validation of step 0 gave no finite value of reward/mean, train/loss.",
    ]
    assert await _ledger(world, job) == [("valid", 0, 0, 0)]


async def test_usage_is_counted_with_each_commit_and_once(world: World) -> None:
    job = await world.job()
    context, database = _losing(await world.context(job))
    priced = context.settings.model_copy(
        update={"pricing": PricingSettings(per_hour=3600.0, currency="EUR")}
    )
    reporter = _reporter(dataclasses.replace(context, settings=priced))
    assert (reporter.usage, reporter.meter.accelerators) == (None, 0)
    reporter.meter.accelerators = 2
    await asyncio.sleep(0.05)
    await reporter.commit_baseline(_outcome(job, 0))
    database.lost = 0
    outcome = _outcome(job, 1)
    outcome.trained.values.update({TIME_SAMPLING: 3.0, TIME_TRAINING: 2.0})
    outcome = dataclasses.replace(
        outcome, validation=dataclasses.replace(outcome.validation, seconds=1.0)
    )
    await reporter.commit_step(outcome, total_steps=plan().total_steps, pace_s=1.0)
    assert database.lost == 1

    usage = (await world.read(job)).usage
    assert usage is not None
    assert usage == reporter.usage
    assert (usage.rollouts, usage.trained_tokens) == (1 + 3, 4 + 4)
    assert (usage.prompt_tokens, usage.completion_tokens) == (4 * 3, 4 * 2)
    assert (usage.sampling_time_s, usage.update_time_s, usage.evaluation_time_s) == (3, 2, 1)
    assert usage.training_time_s >= 0.05
    assert usage.gpu_seconds == pytest.approx(2 * usage.training_time_s)
    assert usage.estimated_cost == pytest.approx(usage.training_time_s)
    assert usage.currency == "EUR"
    recorded = await world.recorded(job)
    assert (recorded.rollouts, recorded.trained_tokens, recorded.currency) == (4, 8, "EUR")
    assert recorded.grader_calls == usage.grader_calls > 0
    assert recorded.training_s == pytest.approx(usage.training_time_s)
    assert recorded.cost == pytest.approx(usage.estimated_cost)


async def test_the_next_claim_counts_on_and_an_overtaken_one_not_at_all(world: World) -> None:
    job = await world.job()
    first = _reporter(await world.context(job))
    await first.commit_step(_outcome(job, 1), total_steps=plan().total_steps, pace_s=1.0)
    late = _reporter(await world.context(job))
    newest = _reporter(await world.context(job))
    with pytest.raises(LeaseLost):
        await late.commit_step(_outcome(job, 2), total_steps=plan().total_steps, pace_s=1.0)
    assert newest.usage is not None
    assert newest.usage.rollouts == 3
    await newest.commit_step(_outcome(job, 2), total_steps=plan().total_steps, pace_s=1.0)
    usage = (await world.read(job)).usage
    assert usage is not None
    assert (usage.rollouts, usage.trained_tokens) == (6, 8)
    assert (usage.estimated_cost, usage.currency, usage.gpu_seconds) == (None, None, 0)
    recorded = await world.recorded(job)
    assert (recorded.rollouts, recorded.trained_tokens, recorded.cost) == (6, 8, None)
