"""Jobs side by side, and the rows of a job by pass rate."""

from tests.support.api.application import Api
from tests.support.dashboard.scenes import (
    STEPS,
    create_job,
    execute,
    put_points,
    put_rollout,
    trace,
    train,
)
from tests.support.dashboard.visits import Visit, rows_of, texts_of
from tests.support.stack import Database


async def test_jobs_are_compared_on_one_axis(api: Api, visit: Visit, database: Database) -> None:
    trained, short = await create_job(api, suffix="rivers"), await create_job(api)
    train(database, trained)
    put_points(database, short, {("reward/mean", "valid"): [0.25, 0.5]})
    page = (await visit.get(f"/jobs/compare?ids={trained}&ids={short}")).text
    head, *rows = rows_of(page, "Jobs")
    assert head[:2] == ["Job", "Status"]
    assert [row[3:6] for row in rows] == [["0.125", "0.7", "+0.575"], ["0.25", "0.5", "+0.25"]]
    reward = rows_of(page, "Reward, validation, table")
    assert reward[:3] == [["Step", "rivers", short], ["0", "0.125", "0.25"], ["1", "0.15", "0.5"]]
    assert reward[-1] == [str(STEPS), "0.7", ""]
    assert rows_of(page, "Reward, training, table")[0] == ["Step", "rivers"]
    assert rows_of(page, "Lost rollouts, table")[1] == ["1", "0.1"]
    commas = (await visit.get(f"/jobs/compare?ids={trained},{short}")).text
    assert rows_of(commas, "Reward, validation, table") == reward
    third = await create_job(api, suffix="rivers")
    page = (await visit.get(f"/jobs/compare?ids={trained},{third},{short}")).text
    assert rows_of(page, "Reward, validation, table")[0] == ["Step", trained, short]
    assert f'href="/jobs/compare?ids={trained}%2C{short}"' in page


async def test_a_loss_has_an_axis_of_its_own(api: Api, visit: Visit, database: Database) -> None:
    job, other = await create_job(api), await create_job(api)
    method = '{"type": "supervised", "supervised": {"hyperparameters": {}}}'
    execute(database, "UPDATE fine_tuning_jobs SET method = %s WHERE id = %s", (method, job))
    put_points(database, job, {("train/loss", "valid"): [2.0, 1.5]})
    put_points(database, other, {("reward/mean", "valid"): [0.5]})
    page = (await visit.get(f"/jobs/compare?ids={job},{other}")).text
    assert rows_of(page, "Loss, validation, table")[0] == ["Step", job]
    assert rows_of(page, "Reward, validation, table")[0] == ["Step", other]


async def test_a_comparison_needs_some_jobs_and_not_too_many(api: Api, visit: Visit) -> None:
    job = await create_job(api)
    for ids in ("", f"?ids={job}", f"?ids={job},{job}", "?ids=" + ",".join(map(str, range(9)))):
        refused = await visit.get(f"/jobs/compare{ids}")
        assert refused.status_code == 400, ids
        assert "Choose from 2 to 8 jobs" in refused.text
    assert (await visit.get(f"/jobs/compare?ids={job},ftjob-never")).status_code == 404


async def test_rows_are_counted_by_their_pass_rate(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    rewards: dict[int, dict[int, tuple[int | None, int | None]]]
    rewards = {0: {0: (0, 0), 1: (0, 1), 2: (1, 1)}, 5: {0: (0, 1), 1: (1, 1), 2: (1, None)}}
    for step, rows in rewards.items():
        for row, pair in rows.items():
            for sample, reward in enumerate(pair):
                put_rollout(
                    database, job, f"ro{step}{row}{sample}", split="valid", step=step,
                    prompt_index=row, sample_index=sample, reward=reward, trace=trace("Q", "A"),
                )  # fmt: skip
    page = (await visit.get(f"/jobs/{job}/rows")).text
    assert rows_of(page, "Rows that pass, table") == [
        ["Step", "never", "sometimes", "always"],
        ["0", "1", "1", "1"],
        ["5", "0", "1", "2"],
    ]
    assert rows_of(page, "Rows")[1:] == [
        ["0", "0", "0 of 2", "5", "1 of 2"],
        ["1", "0", "1 of 2", "5", "2 of 2"],
        ["2", "0", "2 of 2", "5", "1 of 1"],
    ]
    lower = (await visit.get(f"/jobs/{job}/rows?at_least=0")).text
    assert rows_of(lower, "Rows that pass, table")[1] == ["0", "0", "0", "3"]
    assert "No rollout of this split" in (await visit.get(f"/jobs/{job}/rows?split=train")).text
    for wrong in ("split=all", "at_least=nan"):
        assert (await visit.get(f"/jobs/{job}/rows?{wrong}")).status_code == 400
    assert "Rows" in texts_of((await visit.get(f"/jobs/{job}")).text, "a")
