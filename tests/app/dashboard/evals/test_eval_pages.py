"""Pages of evals: the list, an eval with its runs, a run's samples and its baseline."""

from tests.support.api.application import Api
from tests.support.dashboard.eval_scenes import create_eval_run, put_items
from tests.support.dashboard.scenes import create_job, put_baseline
from tests.support.dashboard.visits import Visit, rows_of
from tests.support.stack import Database


async def test_an_eval_leads_to_its_runs_and_their_samples(
    api: Api, visit: Visit, database: Database
) -> None:
    assert "No eval yet" in (await visit.get("/evals")).text
    run = await create_eval_run(api)
    of = run.split("/runs/", maxsplit=1)[0]
    assert [row[:3] for row in rows_of((await visit.get("/evals")).text, "Evals")[1:]] == [
        ["rivers", "exact", "–"]
    ]
    assert "This run has no sample yet" in (await visit.get(f"{run}/baseline")).text
    put_items(database, run)
    [listed] = rows_of((await visit.get(of)).text, "Runs")[1:]
    assert listed[:2] == ["night", "completed"]
    assert listed[3:7] == ["4", "3", "3", "10"]
    page = (await visit.get(run)).text
    samples = rows_of(page, "Samples")[1:]
    assert [row[:3] for row in samples[:4]] == [
        ["0 sample 0", "fail", "0"],
        ["0 sample 1", "fail", "0"],
        ["1 sample 0", "fail", "0"],
        ["1 sample 1", "pass", "1"],
    ]
    assert len(samples) == 10
    assert "model error: no answer" in samples[-1][3]
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") == 7  # those without an error show their answer
    failed = rows_of((await visit.get(f"{run}?status=fail")).text, "Samples")[1:]
    assert [row[0] for row in failed] == ["0 sample 0", "0 sample 1", "1 sample 0"]
    third = rows_of((await visit.get(f"{run}?row=3&status=")).text, "Samples")[1:]
    assert [row[:2] for row in third] == [["3 sample 0", "pass"], ["3 sample 1", "error"]]
    for wrong in ("status=novel", "row=-1", "row=99999999999", "after=never"):
        assert (await visit.get(f"{run}?{wrong}")).status_code == 400, wrong


async def test_the_eval_of_a_job_has_its_validations(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    put_baseline(database, job)
    of = f"/evals/eval_{job.removeprefix('ftjob-')}"
    assert job in (await visit.get("/evals")).text
    [[name, status, *_]] = rows_of((await visit.get(of)).text, "Runs")[1:]
    assert (name, status) == ("Step 0", "completed")
    run = f"{of}/runs/evalrun_{job.removeprefix('ftjob-')}_0"
    samples = rows_of((await visit.get(f"{run}?row=3")).text, "Samples")[1:]
    assert [row[1] for row in samples] == ["fail", "pass", "pass", "error"]
    page = (await visit.get(f"{run}/baseline")).text
    own = (await visit.get(f"/jobs/{job}/baseline")).text
    assert rows_of(page, "Rows") == rows_of(own, "Rows")
