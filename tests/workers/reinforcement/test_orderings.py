"""Real runs under each ordering, in every mode and across a kill."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from typing_extensions import override

from app.jobs.jobs import Job, JobStatus
from app.jobs.reinforcement import ReinforcementMethod
from app.kit.egress import EgressReply, EgressRequest
from app.rollouts.rollouts import PlayedRow
from tests.support import stack
from tests.support.runs.interrupted_runs import RunKilled, interrupted_run
from tests.support.runs.real_run import QUIET, ROWS, RealRuns, Script, by_text
from workers.methods.reinforcement.rows import RowOrder, RowPassRates, StepSizes

MIDDLE = frozenset({3, 4, 5})
"""Rows with a pass rate of about a half; those before them are solved, those behind never."""


@dataclass
class ByRow(Script):
    """Rewards by row, and a little by the answer, so that groups train."""

    @override
    def __call__(self, request: EgressRequest) -> EgressReply:
        body = json.loads(request.body)
        row = int(body["item"]["messages"][0]["content"].removeprefix("part P").removesuffix("?"))
        level = 0.5 if row in MIDDLE else float(row < min(MIDDLE))
        score = level + 0.05 * by_text(body["sample"]["output_text"])
        return EgressReply(200, {}, json.dumps({"score": score}).encode(), 0.0)


def _trained(database: stack.Database, job_id: str) -> list[tuple[int, int, float, int]]:
    """Position, row, reward, and the step that trained it."""
    query = (
        "SELECT step, prompt_index, reward, (trace->>'trained_step')::int FROM rollouts"
        " WHERE job_id = %s AND split = 'train' ORDER BY step, prompt_index, sample_index"
    )
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return connection.execute(query, (job_id,)).fetchall()


def _rows_by_step(database: stack.Database, job_id: str) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for step, row, _, _ in _trained(database, job_id):
        found.setdefault(step, set()).add(row)
    return found


async def _job(runs: RealRuns, **method: Any) -> Job:
    return await runs.job(
        stop=QUIET,
        nothing_to_learn={"action": "off"},
        hyperparameters={"n_epochs": 4, "eval_interval": 8},
        objective={"token_penalty": 0},
        **method,
    )


def _expected(database: stack.Database, job: Job, steps: int) -> dict[int, set[int]]:
    """Returns the rows of each step, from the rewards in the database alone."""
    method = ReinforcementMethod.model_validate(job.method.options)
    assert method.ordering is not None
    assert method.mode is not None
    pass_rates = RowPassRates(None, {})
    order = RowOrder(
        *(method.ordering, StepSizes(ROWS, 5), job.seed, pass_rates), lag=method.mode.staleness
    )
    trained = _trained(database, job.id)
    expected = {}
    for step in range(1, steps + 1):
        committed = max(0, step - 1 - method.mode.staleness)
        for earlier in range(1, committed + 1):
            played = [PlayedRow(row, reward) for _, row, reward, at in trained if at == earlier]
            pass_rates.add(earlier, played)
        expected[step] = set(order.rows(step))
    return expected


@pytest.mark.parametrize(
    ("ordering", "mode"),
    [
        ("easy_to_hard", {"type": "sync"}),
        ("focus", {"type": "async", "max_staleness": 2}),
        pytest.param("focus", {"type": "streaming", "minibatches": 3}, marks=pytest.mark.long),
    ],
    ids=["sync", "async", "streaming"],
)
async def test_a_killed_run_continues_with_the_rows_of_the_committed_steps(
    runs: RealRuns, database: stack.Database, mode: dict[str, Any], ordering: str
) -> None:
    job = await _job(runs, mode=mode, ordering={"type": ordering})
    async with runs.context(job, ByRow()) as context:
        with pytest.raises(RunKilled):
            await interrupted_run(context, after_step=4).run()
    ended = await runs.run(job, ByRow())
    assert (ended.status, ended.step) == (JobStatus.SUCCEEDED, 8)
    by_step = _rows_by_step(database, job.id)
    assert by_step == _expected(database, job, 8)
    if mode["type"] == "sync":
        for step in (3, 5, 7):
            assert {0, 1, 2} <= by_step[step] <= {0, 1, 2, 3, 4, 5}
            assert by_step[step + 1] == set(range(ROWS)) - by_step[step]


async def test_focus_plays_the_rows_in_the_middle_more_often(
    runs: RealRuns, database: stack.Database
) -> None:
    job = await _job(runs, ordering={"type": "focus"})
    assert (await runs.run(job, ByRow())).status is JobStatus.SUCCEEDED
    by_step = _rows_by_step(database, job.id)
    counts = Counter(row for step in range(3, 9) for row in by_step[step])
    assert {row: counts[row] for row in MIDDLE} == dict.fromkeys(MIDDLE, 6)
    assert sum(counts.values()) == 6 * 5
    assert all(counts[row] >= 1 for row in range(ROWS))
