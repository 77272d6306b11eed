"""Real runs in every mode: what they train, and what they leave."""

from collections import Counter, defaultdict
from itertools import cycle
from statistics import fmean
from typing import Any

import psycopg
import pytest

from app.jobs.jobs import JobStatus
from app.rollouts.schemas import Rollout
from tests.support import stack
from tests.support.runs.real_run import QUIET, RealRuns, Script


def _ledger(database: stack.Database, job_id: str) -> list[tuple[int, int, int, int]]:
    """Step, prompt, sample and the step that trained it."""
    query = (
        "SELECT step, prompt_index, sample_index, (trace->>'trained_step')::int FROM rollouts"
        " WHERE job_id = %s AND split = 'train'"
    )
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(query, (job_id,)).fetchall()


def _remembered(database: stack.Database, job_id: str) -> int:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        row = connection.execute(
            "SELECT count(*) FROM journal WHERE job_id = %s", (job_id,)
        ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize(
    "mode",
    [
        {"type": "sync"},
        {"type": "streaming", "minibatches": 3},
        {"type": "async", "max_staleness": 2},
    ],
    ids=lambda mode: str(mode["type"]),
)
async def test_each_position_of_the_curriculum_is_trained_once(
    runs: RealRuns, database: stack.Database, mode: dict[str, Any]
) -> None:
    job = await runs.job(
        stop=QUIET,
        mode=mode,
        hyperparameters={"n_epochs": 2, "compute_multiplier": 0.375},
        objective={"token_penalty": 0},
    )
    thirds = cycle((0.0, 0.5, 1.0))  # a rollout of the mean reward is trained, and moves nothing
    ended = await runs.run(job, Script(train=lambda _: next(thirds)))
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, ended.total_steps)
    ledger = _ledger(database, job.id)
    assert len(ledger) == len({entry[:3] for entry in ledger}) > 0
    trained = Counter(entry[3] for entry in ledger)
    assert sorted(trained) == list(range(1, ended.step + 1))
    assert len(set(trained.values())) == 1
    lag = 2 if mode["type"] == "async" else 0
    assert all(abs(row[3] - row[0]) <= lag for row in ledger)
    assert sum((await runs.curve(job, "train/skipped_steps", "train")).values()) == 0
    assert _remembered(database, job.id) == 0
    tokens = await runs.curve(job, "train/tokens")
    assert sum(tokens.values()) == ended.trained_tokens
    _check_advantages([Rollout.of(row) for row in await runs.rollouts(job, "train")])
    computed = await runs.curve(job, "train/computed_tokens")
    assert all(0 < count < tokens[step] for step, count in computed.items())


def _check_advantages(rollouts: list[Rollout]) -> None:
    """Checks that each rollout shows what it was trained with: its distance from its group."""
    groups = defaultdict[tuple[int, int], list[Rollout]](list)
    for rollout in rollouts:
        assert rollout.shaped_reward == rollout.reward
        groups[rollout.step, rollout.prompt_index].append(rollout)
    for group in groups.values():
        rewards = [rollout.reward or 0.0 for rollout in group]
        advantages = [rollout.advantage for rollout in group]
        if len(set(rewards)) == 1:
            assert set(advantages) == {None}
        else:
            middle = fmean(rewards)
            assert advantages == pytest.approx([reward - middle for reward in rewards])


async def test_what_was_begun_ahead_is_forgotten_when_a_job_ends_early(
    runs: RealRuns, database: stack.Database
) -> None:
    job = await runs.job(
        stop={**QUIET, "max_steps": {"steps": 1}},
        mode={"type": "async", "max_staleness": 2},
        hyperparameters={"n_epochs": 4},
    )
    ended = await runs.run(job, Script())
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 1)
    assert {entry[3] for entry in _ledger(database, job.id)} == {1}
    assert _remembered(database, job.id) == 0
