"""Every page keeps the rules of axe-core and fits its window, in both themes and two widths."""

import re
from typing import Final

import pytest
from fastapi.routing import APIRoute

from app.pages.routes import router
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.organization import PROJECTS, Admin
from tests.support.api.webhook_endpoints import made_endpoint
from tests.support.dashboard.browser import Tab
from tests.support.dashboard.eval_scenes import create_eval_run, put_items
from tests.support.dashboard.page_forms import forms_of
from tests.support.dashboard.scenes import (
    HOSTILE,
    create_job,
    execute,
    put_baseline,
    put_checkpoints,
    put_lost,
    put_points,
    train,
)
from tests.support.dashboard.teaching import rows
from tests.support.dashboard.tokens import put_tokens
from tests.support.stack import Database

pytestmark = pytest.mark.long

NO_PAGES: Final = {
    "/assets/{name}",
    "/docs",
    "/docs/{path:path}",  # `test_documentation.py` reads them
    "/jobs/{job_id}/stream",
    "/jobs/{job_id}/rollouts/{rollout_id}/raw.json",
    "/teach/students/{name}/estimate",  # a part of the page of recipes
}


async def test_every_page_is_accessible(api: Api, tab: Tab, database: Database) -> None:
    job, waiting = await create_job(api, suffix="rivers"), await create_job(api)
    train(database, job)
    put_lost(database, job)
    put_tokens(database, "ro_0_1_0")
    put_baseline(database, job)
    put_checkpoints(database, job, {1: 0.25})
    put_points(database, waiting, {("reward/mean", "valid"): [0.25, 0.5]})
    definition = {"name": "search", "server_url": ENDPOINT}
    tool = (await api.call("POST", "/v1/tools", json=definition)).json()["id"]
    exact = {"type": "exact_match", "reference": "{{item.answer}}"}
    sent = {"name": "exact", "grader": exact}
    grader = (await api.call("POST", "/v1/graders", json=sent)).json()["id"]
    rows = b'{"messages": [{"role": "user", "content": "Which river?"}], "tags": ["a"]}\n'
    file_id = (await api.upload(rows * 12)).json()["id"]
    run = await create_eval_run(api)
    put_items(database, run)
    hook = await webhook(api, database)
    of_job = [
        *(
            "",
            "/events",
            "/report",
            "/rollouts",
            "/rows?split=report",
            "/rows/report/1",
            "/baseline",
        ),
        *("/rollouts/ro_0_1_0", "/rollouts/lost1", "/rollouts?step=99"),
        *(f"/rollouts/ro_0_1_0/tokens?by={by}" for by in ("log_prob", "ratio")),
    ]
    paths = [
        *("/", "/usage", "/?status=running", f"/jobs/{waiting}", "/jobs/never"),
        *("/models", "/endpoints", f"/endpoints/tools/{tool}", f"/endpoints/graders/{grader}"),
        *("/files", f"/files/{file_id}", f"/files/{file_id}?method=reinforcement"),
        *("/evals", run.partition("/runs/")[0], run, f"{run}/baseline"),
        *("/webhooks", f"/webhooks/{hook}", "/projects"),
        *(f"/jobs/compare?ids={job}&ids={waiting}", *(f"/jobs/{job}{part}" for part in of_job)),
    ]
    paths += await teaching_paths(api)
    await tab.open("/sign-in")
    found = await forms_of(tab, "/sign-in")
    await tab.sign_in(api.key)
    for path in paths:
        await tab.open(path)
        found |= await forms_of(tab, path)
    of_admin = await administrators_pages(api)
    await tab.page.context.clear_cookies()
    await tab.sign_in(api.admin_key, heading="Projects")
    for path in of_admin:
        await tab.open(path)
        found |= await forms_of(tab, path)
    assert found == {}
    assert unvisited(["/sign-in", *paths, *of_admin]) == set()
    # A browser writes the status of a missing page, and of one for others, to its console.
    tab.problems = [one for one in tab.problems if not re.search("40[34]", one)]


async def webhook(api: Api, database: Database) -> str:
    """Returns an endpoint with a delivery."""
    hook = str((await made_endpoint(api))["id"])
    execute(
        database,
        "WITH event AS (INSERT INTO webhook_events (id, project_id, type, subject) SELECT 'evt_1', "
        "project_id, 'eval.run.failed', 'evalrun_1' FROM webhook_endpoints WHERE id = %(id)s "
        "RETURNING *) INSERT INTO webhook_deliveries (id, project_id, endpoint_id, event_id, "
        "status, attempts, last_error) SELECT 'whdlv_1', project_id, %(id)s, id, 'failed', 10, "
        "'timeout' FROM event",
        {"id": hook},
    )
    return hook


async def administrators_pages(api: Api) -> list[str]:
    admin = Admin(api, api.admin_key)
    project = await admin.project("rivers")
    await admin.account(project)
    archived = await admin.project("lakes")
    await admin("POST", f"{PROJECTS}/{archived}/archive")
    pages = [f"/projects/{one}" for one in (project, archived)]
    return ["/projects?archived=true", *pages, "/admin-keys"]


async def teaching_paths(api: Api) -> list[str]:
    """Makes a student, examples and a practice. Returns the pages about them."""
    body = {"name": "clerk", "base_model": "tiny-agent"}
    await api.call("POST", "/v1/students", json=body)
    made = await api.call("POST", "/v1/curricula", json={"name": HOSTILE, **rows()})
    curriculum = made.json()["id"]
    plan = {"recipe": "customer_support", "curriculum": curriculum}
    started = await api.call("POST", "/v1/students/clerk/improve", json=plan)
    job, student = started.json()["job"]["id"], "/teach/students/clerk"
    query = f"recipe=customer_support&curriculum={curriculum}"
    return [
        *("/teach", "/teach/examples?kind=better", f"/teach/examples/{curriculum}", student),
        *(f"{student}/chat", f"{student}/practice?curriculum={curriculum}"),
        *(f"{student}/plan?{query}", f"{student}/jobs/{job}", "/teach/students/never"),
    ]


def unvisited(paths: list[str]) -> set[str]:
    """Returns the routes of pages that none of the paths leads to."""
    pages = {
        route.path: route.path_regex
        for room in router.routes
        for route in getattr(room, "original_router", router).routes
        if isinstance(route, APIRoute)
        and "GET" in (route.methods or ())
        and route.path not in NO_PAGES
    }
    assert len(pages) > 8
    return {
        name
        for name, pattern in pages.items()
        if not any(pattern.match(path.partition("?")[0]) for path in paths)
    }
