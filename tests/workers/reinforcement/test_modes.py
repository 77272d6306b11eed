"""Real runs in every mode: what they train, and what they leave."""

from collections import Counter, defaultdict
from itertools import cycle
from statistics import fmean
from typing import Any

import psycopg
import pytest

from app.jobs.jobs import Job, JobStatus
from app.rollouts.rollouts import RolloutRow
from app.rollouts.schemas import Rollout
from app.rollouts.trajectory import TokenRecord
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
    await _check_stored_tokens(runs, job)
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


async def _check_stored_tokens(runs: RealRuns, job: Job) -> None:
    """Checks that each rollout has the tokens of its texts, and that trained ones have ratios."""
    trained = 0
    for split in ("train", "valid", "report"):
        rows = await runs.rollouts(job, split)
        assert rows
        async with runs.world.app.tenant(runs.world.tenant) as unit:
            records = [await unit.rollouts.tokens(row.job_id, row.id) for row in rows]
        for row, record in zip(rows, records, strict=True):
            _check_texts(row, record)
            ratios = [ratio for turn in record.turns for ratio in turn.ratios]
            assert len(ratios) == row.completion_tokens
            if row.advantage is None:
                assert set(ratios) == {None}, split
            elif row.advantage:
                trained += 1
                assert all(ratio is not None for ratio in ratios)
            if row.advantage and row.trace["trained_step"] == 1:
                assert ratios == pytest.approx([1.0] * len(ratios), abs=2e-3), (
                    "the first step trains the policy that sampled"
                )
    assert trained > 4


def _check_texts(row: RolloutRow, record: TokenRecord) -> None:
    written = [one for one in row.trace["messages"] if one["role"] == "assistant"]
    assert len(record.turns) == len(row.trace["turns"])
    for turn, message, stored in zip(record.turns, written, row.trace["turns"], strict=True):
        assert len(turn.texts) == len(turn.log_probs) == stored["tokens"]
        shown = "".join(turn.texts)
        if "<think>" not in shown:
            assert shown.strip() == message["content"]
        assert message["content"] in shown
        assert message.get("reasoning_content", "") in shown
        assert all(logprob is not None and logprob <= 0 for logprob in turn.log_probs)
    assert record.omitted == 0


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
