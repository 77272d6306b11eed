"""Sampling beside training, the age bound, give-ups, faults, and the queue over a kill."""

import asyncio
from collections import Counter

import pytest

from app.files.datasets import DatasetRow
from app.jobs.learning import AsyncOptions
from app.jobs.reinforcement import Evaluation
from app.kit.errors import RunFailed
from app.kit.ids import SampleKey
from app.rollouts import metrics as names
from tests.support.cases import cases
from tests.support.patience import PATIENCE_S
from tests.support.reinforcement.scripted_modes import (
    CountingTrainer,
    GatedGrader,
    Stage,
    keys_of,
    turns_of_the_loop,
)
from workers.journal import InMemoryJournal
from workers.methods.reinforcement.evaluation import Evaluator
from workers.methods.reinforcement.step_summary import SampledStep
from workers.methods.schedulers.asynchronous import AsyncMode


def ages(outcome: SampledStep) -> list[int]:
    return [
        outcome.step - 1 - rollout.trajectory.policy_versions[0] for rollout in outcome.rollouts
    ]


async def test_later_steps_are_sampled_while_one_is_trained() -> None:
    """The trainer holds step 1 until rollouts of step 3 were asked for, which only K = 2 allows."""
    ahead = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def gate(key: SampleKey) -> None:
        if key.step == 3:
            ahead.set()

    def hold() -> None:
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(ahead.wait(), PATIENCE_S), loop).result()

    stage = Stage(CountingTrainer(hold), steps=4, grader=GatedGrader(gate))
    outcomes = await stage.run(AsyncMode(stage.context, AsyncOptions(max_staleness=2)))
    assert [len(outcome.rollouts) for outcome in outcomes] == [16, 16, 16, 16]
    assert [max(ages(outcome)) for outcome in outcomes] == [0, 1, 2, 2]
    assert outcomes[2].values[names.STALENESS_MEAN] == 2.0
    assert outcomes[0].values[names.QUEUE_DEPTH] >= 0
    assert outcomes[0].values[names.STALE_DISCARDED_SHARE] == 0
    seen = Counter(key for outcome in outcomes for key in keys_of(outcome.rollouts))
    assert len(seen) == 64
    assert set(seen.values()) == {1}


async def test_only_committed_versions_are_sampled_from() -> None:
    stage = Stage(CountingTrainer(), steps=5)
    mode = AsyncMode(stage.context, AsyncOptions(max_staleness=1))
    await mode.start(stage.schedule())
    for step in range(1, 6):
        await mode.step(step)
        before = len(stage.policy.asked)
        stage.policy.version = step  # it is published, and its step is not committed yet
        await turns_of_the_loop()
        assert all(version < step for version, _ in stage.policy.asked[before:])
        await mode.on_step_committed(step)
    await mode.close()
    assert {version for version, _ in stage.policy.asked} == {0, 1, 2, 3}


async def test_dispatch_stops_at_the_free_slots() -> None:
    """Back-pressure: no group starts that would only wait, whatever the staleness bound allows."""
    opened: set[SampleKey] = set()
    most = 0
    release = asyncio.Event()

    async def gate(key: SampleKey) -> None:
        nonlocal most
        opened.add(key)
        most = max(most, len(opened))
        await release.wait()
        opened.discard(key)

    stage = Stage(CountingTrainer(), steps=3, max_concurrent=10, grader=GatedGrader(gate))
    mode = AsyncMode(stage.context, AsyncOptions(max_staleness=4))
    await mode.start(stage.schedule())
    await turns_of_the_loop(200)
    assert (most, len(stage.policy.asked)) == (8, 8), (
        "two groups of four; a third does not fit into ten slots"
    )
    release.set()
    assert len((await mode.step(1)).rollouts) == 16
    assert most <= 10
    await mode.close()


async def test_a_validation_shares_the_slots_with_training() -> None:
    """Six slots: four rollouts of training keep theirs while a validation wants eight more."""
    played: Counter[str] = Counter()
    most: Counter[str] = Counter()
    release = asyncio.Event()

    async def gate(key: SampleKey) -> None:
        for name in (key.split, "all"):
            played[name] += 1
            most[name] = max(most[name], played[name])
        await release.wait()
        played.subtract((key.split, "all"))

    stage = Stage(CountingTrainer(), steps=2, max_concurrent=6, grader=GatedGrader(gate))
    mode = AsyncMode(stage.context, AsyncOptions(max_staleness=1))
    await mode.start(stage.schedule())
    await turns_of_the_loop(200)
    rows = [DatasetRow(n, [{"role": "user", "content": f"Held {n}?"}], [], {}) for n in range(4)]
    evaluator = Evaluator(
        stage.setup, "ftjob-1", Evaluation(samples=2, temperature=1.0, greedy=False)
    )
    validation = asyncio.create_task(
        evaluator.validate(rows, step=0, policy=stage.policy, journal=InMemoryJournal())
    )
    await turns_of_the_loop(200)
    assert most == {"train": 4, "valid": 2, "all": 6}
    release.set()
    assert len((await asyncio.wait_for(validation, PATIENCE_S)).rollouts) == 8
    assert len((await asyncio.wait_for(mode.step(1), PATIENCE_S)).rollouts) == 16
    await mode.close()
    assert most["all"] == 6


async def test_a_group_that_hangs_is_requeued_and_the_others_continue() -> None:
    async def gate(key: SampleKey) -> None:
        if (key.step, key.prompt_index, key.attempt) == (2, 5, 0):
            await asyncio.Event().wait()

    stage = Stage(CountingTrainer(), steps=6, grader=GatedGrader(gate))
    outcomes = await asyncio.wait_for(
        stage.run(AsyncMode(stage.context, AsyncOptions(max_staleness=1))), PATIENCE_S
    )
    shares = [outcome.values[names.STALE_DISCARDED_SHARE] for outcome in outcomes]
    assert max(shares) == pytest.approx(1 / 5)
    assert sum(share > 0 for share in shares) == 1
    for outcome, share in zip(outcomes, shares, strict=True):
        assert outcome.values[names.GROUP_SECONDS] > 0
        if share:
            lasted = outcome.values[names.GIVEN_UP_GROUP_SECONDS]
            assert lasted > outcome.values[names.GROUP_SECONDS], "the slow one was given up"
        else:
            assert names.GIVEN_UP_GROUP_SECONDS not in outcome.values
    hung = [
        (outcome.step, rollout.key.attempt)
        for outcome in outcomes
        for rollout in outcome.rollouts
        if rollout.key.prompt_index == 5
    ]
    assert len(hung) == 4
    assert {attempt for _, attempt in hung} == {1}
    assert all(max(ages(outcome)) <= 1 for outcome in outcomes)


async def test_nothing_to_learn_from_anywhere_is_no_deadlock() -> None:
    stage = Stage(CountingTrainer(), steps=4, grader=GatedGrader(equal=lambda _: True))
    outcomes = await stage.run(AsyncMode(stage.context, AsyncOptions(max_staleness=1)))
    assert stage.trainer.calls == []
    assert [outcome.values[names.GROUPS_ZERO_VARIANCE] for outcome in outcomes] == [4] * 4


async def test_an_internal_fault_in_the_background_ends_the_step() -> None:
    async def gate(key: SampleKey) -> None:
        if key.step == 2:
            raise ConnectionAbortedError

    stage = Stage(CountingTrainer(), grader=GatedGrader(gate))
    with pytest.raises(ConnectionAbortedError):
        await stage.run(AsyncMode(stage.context, AsyncOptions(max_staleness=1)))


@cases("commits", [1, 2])
async def test_a_resume_trains_each_once_and_repeats_no_journalled_call(commits: int) -> None:
    """The run is killed between two commits: groups started under the uncommitted step, finished
    groups that were not taken, and hanging groups all return, from the committed queue and the
    journal.
    """
    hanging = asyncio.Event()

    async def gate(key: SampleKey) -> None:
        if key.step == 3 and key.prompt_index % 2:
            await hanging.wait()

    stage = Stage(CountingTrainer(), steps=5, grader=GatedGrader(gate))
    first = AsyncMode(stage.context, AsyncOptions(max_staleness=2))
    await first.start(stage.schedule())
    outcomes = []
    for step in range(1, commits + 1):
        outcomes.append(await first.step(step))
        await stage.commit(first, step)
    if commits == 1:
        await first.step(2)  # trained, never committed
    await turns_of_the_loop(200)
    await first.close()
    saved = outcomes[-1].scheduler_state
    assert saved is not None
    assert len(saved["tickets"]) == 8

    asked_before = [seed for _, seed in stage.policy.asked]
    hanging.set()
    second = AsyncMode(stage.context, AsyncOptions(max_staleness=2))
    await second.start(stage.schedule(committed=commits, scheduler_state=saved))
    for step in range(commits + 1, 6):
        outcomes.append(await second.step(step))
        await stage.commit(second, step)
    await second.close()
    seen = Counter(key for outcome in outcomes for key in keys_of(outcome.rollouts))
    assert len(seen) == 5 * 16
    assert set(seen.values()) == {1}
    assert all(max(ages(outcome)) <= 2 for outcome in outcomes)
    asked = Counter(seed for _, seed in stage.policy.asked)
    assert set(asked.values()) == {1}, "a turn that was remembered was sampled again"
    assert len(asked_before) >= 3 * 16
    assert outcomes[-1].scheduler_state == {"cursor": [6, 0], "tickets": []}


async def test_a_committed_step_without_its_queue_is_no_fresh_start() -> None:
    stage = Stage(CountingTrainer())
    with pytest.raises(RunFailed) as failed:
        await AsyncMode(stage.context, AsyncOptions()).start(stage.schedule(committed=2))
    assert failed.value.code == "state_damaged"


async def test_nothing_runs_on_after_the_end() -> None:
    async def gate(_key: SampleKey) -> None:
        await asyncio.Event().wait()

    stage = Stage(CountingTrainer(), grader=GatedGrader(gate))
    before = asyncio.all_tasks()
    mode = AsyncMode(stage.context, AsyncOptions())
    await mode.start(stage.schedule())
    await turns_of_the_loop()
    assert asyncio.all_tasks() > before
    await mode.close()
    assert asyncio.all_tasks() == before
