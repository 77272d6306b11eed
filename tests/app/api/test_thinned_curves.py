"""A long curve is thinned by the database as `thin` does it."""

from app.domain.thinning import thin
from tests.support.api.application import Api
from tests.support.dashboard.scenes import create_job, execute
from tests.support.stack import Database

POINTS = 997
PUT = """
    INSERT INTO job_metrics (project_id, job_id, name, split, step, value)
    SELECT project_id, id, 'reward/mean', 'train', point, point / 4.0
    FROM fine_tuning_jobs, generate_series(1, %s) AS point WHERE id = %s
"""


async def test_the_chosen_points_are_those_of_the_rule(api: Api, database: Database) -> None:
    job = await create_job(api)
    execute(database, PUT, (POINTS, job))
    steps = range(1, POINTS + 1)
    for count in (1, 2, 3, 7, 150, 500, 996, 997, 1000):
        path = f"/v1/fine_tuning/jobs/{job}/metrics?max_points={count}"
        [curve] = (await api.call("GET", path)).json()["data"]
        chosen = thin(steps, count)
        assert [point["step"] for point in curve["points"]] == chosen, count
        assert [point["value"] for point in curve["points"]] == [step / 4 for step in chosen]
    late = f"/v1/fine_tuning/jobs/{job}/metrics?max_points=3&after_step=900"
    [curve] = (await api.call("GET", late)).json()["data"]
    assert [point["step"] for point in curve["points"]] == thin(range(901, POINTS + 1), 3)
