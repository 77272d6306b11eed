"""A visitor sees their own project: every page of another one answers as if it had never been."""

from tests.support.api.application import ENDPOINT, Api
from tests.support.dashboard.scenes import create_job, put_usage, train
from tests.support.dashboard.visits import Visit, visiting
from tests.support.stack import Database


async def test_pages_of_another_project_are_not_found(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api, suffix="secret-suffix")
    train(database, job)
    pages = [
        *("", "/events", "/report", "/rollouts", "/rows", "/rows/report/1", "/baseline"),
        *("/rollouts/ro_0_1_0", "/rollouts/ro_0_1_0/raw.json"),
    ]
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        token = await stranger.form_token()
        for page in pages:
            assert (await visit.get(f"/jobs/{job}{page}")).status_code == 200, page
            foreign = await stranger.get(f"/jobs/{job}{page}")
            never = await stranger.get(f"/jobs/ftjob-never{page}")
            assert (foreign.status_code, never.status_code) == (404, 404), page
            assert foreign.text.replace(job, "ftjob-never") == never.text, page
        own = await create_job(api, key=api.other_key)
        for ids in (f"{own},{job}", f"{job},{own}"):
            assert (await stranger.get(f"/jobs/compare?ids={ids}")).status_code == 404
        for action in ("pause", "resume", "cancel"):
            reply = await stranger.post(f"/jobs/{job}/{action}", {"form_token": token})
            assert reply.status_code == 404, action
        put_usage(database, job)
        assert job in (await visit.get("/usage")).text
        assert job not in (await stranger.get("/usage")).text
        assert "secret-suffix" not in (await stranger.get("/")).text
        assert (await stranger.get(f"/?after={job}")).status_code == 400
    assert "succeeded" in (await visit.get(f"/jobs/{job}")).text


async def test_a_rollout_is_found_under_its_own_job_only(
    api: Api, visit: Visit, database: Database
) -> None:
    mine, other = await create_job(api), await create_job(api)
    train(database, mine)
    assert (await visit.get(f"/jobs/{mine}/rollouts/ro_0_1_0")).status_code == 200
    assert (await visit.get(f"/jobs/{other}/rollouts/ro_0_1_0")).status_code == 404


async def test_endpoints_of_another_project_are_not_found(api: Api, visit: Visit) -> None:
    sent: dict[str, dict[str, object]] = {
        "tools": {"name": "secret-name", "server_url": ENDPOINT},
        "graders": {"name": "secret-name", "grader": {"type": "endpoint", "url": ENDPOINT}},
        "environments": {"name": "secret-name", "url": ENDPOINT},
    }
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        token = await stranger.form_token()
        for kind, definition in sent.items():
            made = (await api.call("POST", f"/v1/{kind}", json=definition)).json()["id"]
            page = f"/endpoints/{kind}/{made}"
            assert (await visit.get(page)).status_code == 200, kind
            foreign = await stranger.get(page)
            never = await stranger.get(f"/endpoints/{kind}/never")
            assert (foreign.status_code, never.status_code) == (404, 404), kind
            assert foreign.text.replace(made, "never") == never.text, kind
            tested = await stranger.post(f"{page}/test", {"form_token": token})
            assert tested.status_code == 404, kind
            assert made in (await visit.get("/endpoints")).text
        assert "secret-name" not in (await stranger.get("/endpoints")).text
