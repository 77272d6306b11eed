"""The page of a long job: outlines of its curves, and findings from the points that decide."""

import psycopg

from app.jobs.findings import WHOLE
from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, put_points
from tests.support.dashboard.visits import Visit, rows_of, texts_of
from tests.support.stack import Database

STEPS = 3000
SPIKE = 1234
EVERY = 32
"""Steps of a block of a job of this length."""


async def test_a_long_job_is_outlined_by_points_that_exist(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    reward = [0.001 * (step % 97) for step in range(1, STEPS + 1)]
    reward[SPIKE - 1] = 9.0
    put_points(
        database,
        job,
        {
            ("reward/mean", "train"): reward,
            ("tool_calls/mean", "train"): [2.0] * STEPS,
            ("tool/search/calls_mean", "train"): [2.0] * STEPS,
            ("rollouts/valid", "train"): [6.0] * STEPS,
            ("discarded/count", "train"): [2.0] * STEPS,
            ("discarded/tool_timeout", "train"): [2.0] * STEPS,
        },
    )
    page = (await visit.get(f"/jobs/{job}")).text
    [_, *rows] = rows_of(page, "Reward, table")
    assert (rows[0], rows[-1]) == (["1", "0.001"], [str(STEPS), f"{reward[-1]:.6g}"])
    assert [str(SPIKE), "9"] in rows
    assert 2 * WHOLE > len(rows) > 150
    assert all(value == f"{reward[int(step) - 1]:.6g}" for step, value in rows)
    [_, *calls] = rows_of(page, "Tool calls, table")
    assert all(row[1:] == ["2", "2"] for row in calls)
    assert {row[0] for row in calls} >= {str(EVERY * number - 1) for number in range(1, 93)}
    assert rows_of(page, "Lost rollouts, table")[1] == ["1", "0.25"]
    assert f'failure_class=tool_timeout">tool timeout</a> {2 * STEPS:,}<' in page


async def test_findings_of_a_long_job_come_from_the_points_that_decide(
    api: Api, visit: Visit, database: Database
) -> None:
    """Training is 0.5 ahead of three validations over a thousand steps each, entropy has just
    collapsed, and the last steps lost rollouts to a tool.
    """
    job = await create_job(api)
    put_points(
        database,
        job,
        {
            ("reward/mean", "train"): [0.9] * STEPS,
            ("rollouts/valid", "train"): [6.0] * STEPS,
            ("discarded/count", "train"): [2.0] * STEPS,
            ("discarded/tool_timeout", "train"): [0.0] * (STEPS - 5) + [2.0] * 5,
            ("train/entropy", "train"): [1.0] * (STEPS - 7) + [0.001] * 7,
            ("train/loss", "train"): [0.1] * STEPS,
        },
    )
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "INSERT INTO job_metrics (project_id, job_id, name, split, step, value) "
            "SELECT project_id, id, 'reward/mean', 'valid', validated, 0.4 FROM fine_tuning_jobs, "
            "generate_series(0, %s, 1000) AS validated WHERE id = %s",
            (STEPS, job),
        )
    page = (await visit.get(f"/jobs/{job}")).text
    section = page.partition("Findings</h2>")[2].partition("</section>")[0]
    found = "\n".join(texts_of(section, "li"))
    assert "Training reward/mean is 0.5 better than validation, at least 0.2 in 3" in found
    assert "Entropy is 0.001 nats a token, 1 in the first 5 steps" in found
    assert "25% of the rollouts of the last 5 steps were lost: 25% tool_timeout." in found
