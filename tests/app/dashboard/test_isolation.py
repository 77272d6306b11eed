"""A visitor sees their own project: every page of another one answers as if it had never been."""

from app.accounts.accounts import KeyKind
from app.database import Database as Store
from app.kit.ids import OrganizationId
from app.wiring import build_key_service
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.organization import ADMIN_KEYS, PROJECTS, Admin, opens
from tests.support.api.organization import execute as query
from tests.support.api.webhook_endpoints import made_endpoint
from tests.support.dashboard.eval_scenes import create_eval_run, put_items
from tests.support.dashboard.scenes import create_job, put_usage, train
from tests.support.dashboard.tokens import put_tokens
from tests.support.dashboard.visits import Visit, visiting
from tests.support.stack import Database


async def test_pages_of_another_project_are_not_found(
    api: Api, visit: Visit, database: Database
) -> None:
    job = await create_job(api, suffix="secret-suffix")
    train(database, job)
    put_tokens(database, "ro_0_1_0")
    pages = [
        *("", "/events", "/report", "/rollouts", "/rows", "/rows/report/1", "/baseline"),
        *("/rollouts/ro_0_1_0", "/rollouts/ro_0_1_0/raw.json", "/rollouts/ro_0_1_0/tokens"),
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


async def test_files_evals_and_webhooks_of_another_project_are_not_found(
    api: Api, visit: Visit, database: Database
) -> None:
    row = b'{"messages": [{"role": "user", "content": "secret-row"}]}\n'
    file_id = (await api.upload(row)).json()["id"]
    run = await create_eval_run(api, name="secret-eval")
    put_items(database, run)
    hook = (await made_endpoint(api, name="secret-hook"))["id"]
    pages = {
        f"/files/{file_id}": file_id,
        f"/files/{file_id}?method=supervised": file_id,
        run.partition("/runs/")[0]: run.split("/")[2],
        run: run.split("/")[2],
        f"{run}/baseline": run.split("/")[2],
        f"/webhooks/{hook}": hook,
    }
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        token = {"form_token": await stranger.form_token()}
        for page, own_id in pages.items():
            assert (await visit.get(page)).status_code == 200, page
            foreign = await stranger.get(page)
            never = await stranger.get(page.replace(own_id, "never"))
            assert (foreign.status_code, never.status_code) == (404, 404), page
            assert foreign.text.replace(own_id, "never") == never.text, page
        for action in ("test", "rotate", "enable", "delete", "deliveries/never/redeliver"):
            sent = {**token, "event_type": "eval.run.failed"}
            reply = await stranger.post(f"/webhooks/{hook}/{action}", sent)
            assert reply.status_code == 404, action
        for page in ("/files", "/evals", "/webhooks"):
            assert "secret-" not in (await stranger.get(page)).text, page
        for page, cursor in (("/files", file_id), ("/evals", run.split("/")[2])):
            assert (await stranger.get(f"{page}?after={cursor}")).status_code == 400
    assert (await visit.get(f"/webhooks/{hook}")).status_code == 200


async def test_administrators_see_their_own_organization_and_projects_none(
    api: Api, visit: Visit, database: Database
) -> None:
    admin = Admin(api, api.admin_key)
    project = await admin.project("secret-name")
    key = (await admin.account(project, name="secret-account"))["api_key"]["id"]
    [own] = (await admin("GET", ADMIN_KEYS))["data"]
    pages = ("/projects", f"/projects/{project}", "/admin-keys")
    forms = (
        *("/projects", "/admin-keys", f"/admin-keys/{own['id']}/rotate"),
        *(f"/admin-keys/{own['id']}/delete", f"/projects/{project}/keys"),
        *(f"/projects/{project}/{one}" for one in ("rename", "archive", f"keys/{key}/rotate")),
        f"/projects/{project}/keys/{key}/delete",
    )
    other_admin = await other_admin_key(database)
    async with visiting(api.http) as stranger:
        await stranger.sign_in(other_admin)
        token = {"form_token": await stranger.form_token("/projects"), "name": "n"}
        assert "secret-" not in (await stranger.get("/projects?archived=true")).text
        foreign = await stranger.get(f"/projects/{project}")
        never = await stranger.get("/projects/never")
        assert (foreign.status_code, never.status_code) == (404, 404)
        assert foreign.text.replace(project, "never") == never.text
        assert own["id"] not in (await stranger.get("/admin-keys")).text
        for path in forms[2:]:
            assert (await stranger.post(path, token)).status_code == 404, path
        for page in ("/jobs/never", "/files", "/usage", "/webhooks", "/models"):
            assert (await stranger.get(page)).status_code == 403, page
    token = {"form_token": await visit.form_token(), "name": "n"}
    for page in pages:
        refused = await visit.get(page)
        assert (refused.status_code, "secret-" in refused.text) == (403, False), page
    for path in forms:
        assert (await visit.post(path, token)).status_code == 403, path
    assert await opens(api, api.admin_key)
    assert (await admin("GET", f"{PROJECTS}/{project}"))["name"] == "secret-name"


async def other_admin_key(database: Database) -> str:
    """Returns an admin key of the second organization."""
    store = Store(database.settings.database_url, pool_size=1)
    keys = build_key_service(database.settings, store)
    [[organization]] = query(database, "SELECT id FROM organizations WHERE slug = 'second'")
    minted = keys.mint(
        KeyKind.ADMIN, organization_id=OrganizationId(organization), project_id=None, name="a"
    )
    async with store.organization(OrganizationId(organization)) as unit:
        await unit.keys.insert(minted.row)
    await store.dispose()
    return minted.value
