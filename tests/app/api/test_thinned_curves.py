"""A long curve is thinned by the database as `extremes` does it."""

from app.jobs.findings import extremes
from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, execute
from tests.support.stack import Database

POINTS = 997
SPIKE = 613
PUT = """
    INSERT INTO job_metrics (project_id, job_id, name, split, step, value)
    SELECT project_id, id, name, 'train', point,
      CASE WHEN point = %s THEN 1000 ELSE (point * factor %% 101) / 4.0 END
    FROM fine_tuning_jobs, generate_series(1, %s) AS point,
      (VALUES ('reward/mean', 37), ('reward/std', 1)) AS curves (name, factor)
    WHERE id = %s
"""


def value_at(step: int, factor: int) -> float:
    return 1000.0 if step == SPIKE else step * factor % 101 / 4


async def test_the_chosen_points_are_those_of_the_rule(api: Api, database: Database) -> None:
    job = await create_job(api)
    execute(database, PUT, (SPIKE, POINTS, job))
    path = f"/v1/fine_tuning/jobs/{job}/metrics"
    for after in (0, 600):
        steps = range(after + 1, POINTS + 1)
        for count in (1, 2, 3, 4, 7, 150, 500, 996, 997, 1000):
            query = {"max_points": count, "after_step": after}
            curves = (await api.call("GET", path, params=query)).json()["data"]
            assert [curve["name"] for curve in curves] == ["reward/mean", "reward/std"]
            for curve, factor in zip(curves, (37, 1), strict=True):
                values = [value_at(step, factor) for step in steps]
                chosen = extremes(values, count)
                found = [(point["step"], point["value"]) for point in curve["points"]]
                assert found == [(steps[index], values[index]) for index in chosen], count
                assert count < 4 or (SPIKE, 1000.0) in found
