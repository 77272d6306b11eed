"""The list of jobs: what each has reached, its owner and cost, its filter and pages."""

import json
import re
from html import unescape

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.dashboard.scenes import create_job, execute, put_points, train
from tests.support.dashboard.visits import Visit, rows_of
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
OWNER = "first key"


async def test_the_list_shows_what_a_job_has_reached(
    api: Api, visit: Visit, database: Database
) -> None:
    waiting = await create_job(api)
    trained = await create_job(api, suffix="rivers")
    train(database, trained)
    page = await visit.get("/")
    assert page.status_code == 200
    [head, first, second] = rows_of(page.text, "Jobs")
    assert head[:4] == ["Job", "Status", "Step", "Ready"]
    assert first[0].startswith("rivers")
    assert first[1:3] == ["succeeded", "12 / 12"]
    assert first[4:8] == ["0.125", "0.7", "+0.575", "10.0%"]
    assert second[0].startswith(waiting)
    assert (second[1], second[4:8]) == ("validating files", ["–", "–", "–", "–"])
    asked = re.search(r'hx-get="([^"]+)"', page.text)
    assert asked is not None
    part = await visit.part(unescape(asked[1]))
    assert rows_of(part.text, "Jobs") == [head, first, second]
    assert "<html" not in part.text


async def test_the_list_names_owners_and_shows_costs_where_prices_are_configured(
    api: Api, visit: Visit, database: Database
) -> None:
    execute(database, "UPDATE api_keys SET name = %s", (OWNER,))
    job = await create_job(api)
    await create_job(api)
    [head, *rows] = rows_of((await visit.get("/")).text, "Jobs")
    assert head[-3:] == ["Lost", "Owner", "Created"]
    assert [row[-2] for row in rows] == [OWNER, OWNER]
    usage = json.dumps({"estimated_cost": 12.5, "currency": "EUR"})
    execute(database, "UPDATE fine_tuning_jobs SET usage = %s WHERE id = %s", (usage, job))
    [head, *rows] = rows_of((await visit.get("/")).text, "Jobs")
    assert head[-4:] == ["Lost", "Cost", "Owner", "Created"]
    assert [row[-3:-1] for row in rows] == [["–", OWNER], ["12.5 EUR", OWNER]]


@cases(
    ("verdict", "badge", "colour"),
    [
        ("gain", "succeeded, gain", "better"),
        ("no_clear_gain", "succeeded, no clear gain", "same"),
        ("loss", "succeeded, loss", "worse"),
    ],
)
async def test_a_job_without_a_shown_gain_has_no_badge_of_one(
    api: Api, visit: Visit, database: Database, verdict: str | None, badge: str, colour: str
) -> None:
    job = await create_job(api)
    train(database, job)
    execute(database, "UPDATE fine_tuning_jobs SET verdict = %s WHERE id = %s", (verdict, job))
    shown = f'<span class="status {" ".join(filter(None, ("succeeded", verdict)))}">{badge}</span>'
    for path in ("/", f"/jobs/{job}"):
        page = (await visit.get(path)).text
        assert shown in page
        assert f'<span class="{colour}">+0.575</span>' in page
    assert (await api.call("GET", f"{JOBS}/{job}")).json()["verdict"] == verdict


async def test_the_list_of_a_loss_shows_that_less_is_better(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api)
    method = '{"type": "supervised", "supervised": {"hyperparameters": {}}}'
    execute(database, "UPDATE fine_tuning_jobs SET method = %s WHERE id = %s", (method, job))
    put_points(database, job, {("train/loss", "valid"): [2.0, 1.5], ("train/loss", "train"): [1.9]})
    page = (await visit.get("/")).text
    assert rows_of(page, "Jobs")[1][4:7] == ["2", "1.5", "−0.5"]
    assert '<span class="better">−0.5</span>' in page
    shown = (await visit.get(f"/jobs/{job}")).text
    assert "The validation loss went from 2 at step 0 to 1.5 at step 1." in shown


async def test_the_list_filters_by_status_and_has_pages(
    api: Api, visit: Visit, database: Database
) -> None:
    jobs = [await create_job(api) for _ in range(2)]
    execute(
        database,
        "INSERT INTO fine_tuning_jobs SELECT (jsonb_populate_record(job, jsonb_build_object("
        "'id', 'ftjob-' || i, 'created_at', job.created_at - i * interval '1 hour'))).* "
        "FROM fine_tuning_jobs AS job, generate_series(1, 25) AS i WHERE job.id = %s",
        (jobs[0],),
    )
    await api.call("POST", f"{JOBS}/{jobs[1]}/cancel")
    cancelled = (await visit.get("/?status=cancelled")).text
    assert [row[1] for row in rows_of(cancelled, "Jobs")[1:]] == ["cancelled"]
    found: list[str] = []
    path: str | None = "/?status=validating_files"
    while path is not None:
        page = (await visit.get(path)).text
        found += re.findall(r'<tr id="row-([^"]+)"', page)
        older = re.search(r'rel="next" href="([^"]+)"', page)
        path = None if older is None else older[1].replace("&amp;", "&")
    assert sorted(found) == sorted([jobs[0], *(f"ftjob-{n}" for n in range(1, 26))])
    assert (await visit.get("/?status=tired")).status_code == 400
    assert (await visit.get("/?after=ftjob-none")).status_code == 400
    assert "No such jobs" in (await visit.get("/?status=paused")).text


async def test_a_service_without_jobs_names_how_to_make_one(visit: Visit) -> None:
    page = (await visit.get("/")).text
    assert "No job yet" in page
    assert "client.fine_tuning.jobs.create(" in page
