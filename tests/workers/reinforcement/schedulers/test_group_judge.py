"""A group judge in real scheduler steps and evaluation: ranks become rewards and advantages."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from app.files.datasets import DatasetRow
from app.jobs.learning import AsyncOptions
from app.jobs.reinforcement import Evaluation
from app.rollouts import metrics as names
from app.rollouts.trajectory import ScoredRollout
from tests.support.grading.group_judges import RankingJudge, answer_of, ranks
from tests.support.reinforcement.scripted_modes import CountingTrainer, Stage, keys_of
from workers.grading.job_grader import GroupGrader
from workers.methods.reinforcement.evaluation import Evaluator
from workers.methods.schedulers.asynchronous import AsyncMode
from workers.methods.schedulers.mode import Mode, SchedulerContext, StreamingMode, SyncMode

MODES: list[Callable[[SchedulerContext], Mode]] = [
    SyncMode,
    lambda context: StreamingMode(context, minibatches=2),
    lambda context: AsyncMode(context, AsyncOptions(max_staleness=1)),
]
every_mode = pytest.mark.parametrize("build", MODES, ids=["sync", "streaming", "async"])


def stage_of(judge: RankingJudge, **fields: Any) -> Stage:
    return Stage(CountingTrainer(), scorer=GroupGrader("ranks", judge), **fields)


def groups_of(rollouts: Sequence[ScoredRollout], size: int = 4) -> list[Sequence[ScoredRollout]]:
    return [rollouts[start : start + size] for start in range(0, len(rollouts), size)]


@every_mode
async def test_siblings_train_by_their_rank(build: Callable[[SchedulerContext], Mode]) -> None:
    judge = RankingJudge()
    stage = stage_of(judge, steps=2)
    outcomes = await stage.run(build(stage.context))
    advantages: dict[tuple[int, ...], float] = {}
    for group in (scored for outcome in outcomes for scored in groups_of(outcome.rollouts)):
        expected = ranks([answer_of(rollout.trajectory.messages) for rollout in group])
        assert [rollout.reward for rollout in group] == expected
        assert len({rollout.key.group for rollout in group}) == 1
        mean = sum(expected) / 4
        for rollout, rank in zip(group, expected, strict=True):
            advantages[tuple(rollout.trajectory.row.tokens)] = rank - mean
    assert len(judge.asked) == 2 * 4, "once per group"
    assert {len(request.conversations) for request in judge.asked} == {4}
    assert len(stage.trainer.samples) == 2 * 16
    for sample in stage.trainer.samples:
        assert sample.advantage == pytest.approx(advantages[tuple(sample.tokens)])


@every_mode
async def test_a_resume_calls_no_judge_again(build: Callable[[SchedulerContext], Mode]) -> None:
    """The run is killed before step 1 commits; the next claim replays its groups."""
    judge = RankingJudge()
    stage = stage_of(judge, steps=2)
    killed = build(stage.context)
    await killed.start(stage.schedule())
    first = await killed.step(1)
    await killed.close()
    asked = len(judge.asked)
    assert asked >= 4

    resumed = build(stage.context)
    await resumed.start(stage.schedule())
    again = await resumed.step(1)
    await stage.commit(resumed, 1)
    last = await resumed.step(2)
    await resumed.close()
    assert keys_of(again.rollouts) == keys_of(first.rollouts)
    assert [rollout.reward for rollout in again.rollouts] == [
        rollout.reward for rollout in first.rollouts
    ]
    assert len({key for outcome in (again, last) for key in keys_of(outcome.rollouts)}) == 32
    assert len({request.call_id for request in judge.asked}) == len(judge.asked) == 8


async def test_held_out_rows_are_judged_as_groups() -> None:
    judge = RankingJudge()
    stage = stage_of(judge)
    rows = [DatasetRow(n, [{"role": "user", "content": f"Held out {n}?"}], [], {}) for n in (3, 8)]
    options = Evaluation(samples=3, temperature=1.0, greedy=True)
    validation = await Evaluator(stage.setup, "ftjob-1", options).validate(
        rows, step=2, policy=stage.policy, journal=await stage.schedule().journal(2)
    )
    assert [(r.key.split, r.key.prompt_index, r.key.sample_index) for r in validation.rollouts] == [
        ("valid", row, sample) for row in (3, 8) for sample in range(3)
    ]
    greedy = [
        (rollout.key.split, rollout.key.prompt_index) for rollout in validation.further_rollouts
    ]
    assert greedy == [("valid_greedy", 3), ("valid_greedy", 8)]
    for group in groups_of(validation.rollouts, 3):
        answers = [answer_of(rollout.trajectory.messages) for rollout in group]
        assert [rollout.reward for rollout in group] == ranks(answers)
    assert len(judge.asked) == 2 + 2, "the greedy rollouts apart"
    assert validation.values[names.REWARD_MEAN] == pytest.approx(0.5)
