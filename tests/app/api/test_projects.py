"""Projects of an organization: creation, order, and the archive."""

import asyncio
import time
from dataclasses import replace
from typing import Any

from tests.support.api.application import Api, running
from tests.support.api.organization import PROJECTS, Admin, execute
from tests.support.stack import Database


async def test_an_organization_has_a_quota_of_projects(database: Database) -> None:
    quotas = database.settings.quotas.model_copy(update={"projects": 3})
    changed = database.settings.model_copy(update={"quotas": quotas})
    async with running(replace(database, settings=changed)) as api:
        admin = Admin(api, api.admin_key)
        replies = await asyncio.gather(
            *(api.call("POST", PROJECTS, key=admin.key, json={"name": name}) for name in "abcde")
        )
        assert sorted(reply.status_code for reply in replies) == [200] * 2 + [429] * 3
        error = next(reply.json()["error"] for reply in replies if reply.status_code == 429)
        assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
        assert error["message"].startswith(
            "This organization has reached its quota of projects (3 of 3 in use). Archive"
        )
        made = next(reply.json()["id"] for reply in replies if reply.status_code == 200)
        await admin("POST", f"{PROJECTS}/{made}/archive")
        await admin.project("f")


async def test_a_project_is_made_renamed_and_listed_in_order(admin: Admin) -> None:
    before = time.time()
    made = await admin("POST", PROJECTS, json={"name": "a", "residency": None})
    assert made == {
        "id": made["id"],
        "object": "organization.project",
        "name": "a",
        "created_at": made["created_at"],
        "archived_at": None,
        "status": "active",
        "external_key_id": None,
    }
    assert made["id"].startswith("proj_")
    assert before - 1 <= made["created_at"] <= time.time() + 1
    path = f"{PROJECTS}/{made['id']}"
    assert await admin("GET", path) == made
    assert await admin("POST", path, json={"name": "b"}) == made | {"name": "b"}
    assert await admin("POST", path, json={}) == made | {"name": "b"}
    assert await admin("POST", path, json={"name": None}) == made | {"name": "b"}
    other = await admin.project("c")
    listed = await admin("GET", PROJECTS)
    assert [row["name"] for row in listed["data"]] == ["p", "b", "c"]
    assert (listed["last_id"], listed["has_more"]) == (other, False)
    taken = await admin.refused(400, "POST", PROJECTS, json={"name": "b"})
    assert (taken["param"], taken["code"]) == ("name", "project_name_taken")
    taken = await admin.refused(400, "POST", f"{PROJECTS}/{other}", json={"name": "b"})
    assert (taken["param"], taken["code"]) == ("name", "project_name_taken")


async def test_an_archived_project_ends_and_keeps_everything(
    api: Api, admin: Admin, body: dict[str, Any], database: Database
) -> None:
    job = (await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"]
    held = (await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"]
    paused = (await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"]
    done = (await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"]
    execute(
        database,
        "UPDATE fine_tuning_jobs SET status = 'running', fence = 3,"
        " lease_until = now() + interval '1 hour' WHERE id = %s",
        held,
    )
    await api.call("POST", f"/v1/fine_tuning/jobs/{paused}/pause")
    execute(
        database,
        "UPDATE fine_tuning_jobs SET status = 'succeeded', finished_at = now() WHERE id = %s",
        done,
    )
    [project] = (await admin("GET", PROJECTS))["data"]
    path = f"{PROJECTS}/{project['id']}"
    account = await admin.account(project["id"])
    key = account["api_key"]

    archived = await admin("POST", f"{path}/archive")
    assert archived == project | {"status": "archived", "archived_at": archived["archived_at"]}
    assert archived["archived_at"] >= project["created_at"]
    for value in (api.key, key["value"]):
        reply = await api.call("GET", "/v1/models", key=value)
        assert reply.status_code == 401
        assert reply.json()["error"]["code"] == "not_authorized_invalid_project"
    states = dict(execute(database, "SELECT id, status FROM fine_tuning_jobs"))
    assert states == {job: "cancelled", held: "cancelled", paused: "cancelled", done: "succeeded"}
    events = execute(
        database, "SELECT job_id FROM job_events WHERE message = 'Fine-tuning job cancelled'"
    )
    assert {row[0] for row in events} == {job, held, paused}
    assert execute(database, "SELECT count(*) FROM files") == [(2,)]

    assert await admin("GET", path) == archived
    assert (await admin("GET", PROJECTS))["data"] == []
    listed = (await admin("GET", PROJECTS, params={"include_archived": "true"}))["data"]
    assert listed == [archived]
    assert await admin("POST", f"{path}/archive") == archived
    for method, tail, sent in (
        ("POST", "", {"name": "back"}),
        ("POST", "/service_accounts", {"name": "x"}),
        ("POST", f"/service_accounts/{account['id']}", {"name": "x"}),
        ("POST", f"/service_accounts/{account['id']}/api_keys", {}),
        ("DELETE", f"/service_accounts/{account['id']}", None),
        ("POST", f"/api_keys/{key['id']}", {"expires_in_seconds": 9}),
        ("DELETE", f"/api_keys/{key['id']}", None),
    ):
        refused = await admin.refused(400, method, f"{path}{tail}", json=sent)
        assert refused["code"] == "project_archived"
    keys = (await admin("GET", f"{path}/api_keys"))["data"]
    assert {row["owner_project_access"] for row in keys} == {"inactive"}
    assert key["id"] in {row["id"] for row in keys}
    assert await admin.project("p") != project["id"]  # its name is free again


async def test_a_job_that_was_being_made_does_not_outlive_its_project(
    api: Api, admin: Admin, body: dict[str, Any], database: Database
) -> None:
    [project] = (await admin("GET", PROJECTS))["data"]
    made, archived = await asyncio.gather(
        asyncio.gather(*(api.call("POST", "/v1/fine_tuning/jobs", json=body) for _ in range(12))),
        _soon(admin("POST", f"{PROJECTS}/{project['id']}/archive")),
    )
    assert archived["status"] == "archived"
    assert {reply.status_code for reply in made} <= {200, 401}
    left = execute(database, "SELECT DISTINCT status FROM fine_tuning_jobs")
    assert left in ([("cancelled",)], [])


async def _soon(call: Any) -> Any:
    await asyncio.sleep(0.05)
    return await call


async def test_a_job_begins_nowhere_in_an_archived_project(
    api: Api, admin: Admin, body: dict[str, Any], database: Database
) -> None:
    """The state of a request whose key was read just before the project was archived."""
    [project] = (await admin("GET", PROJECTS))["data"]
    await admin("POST", f"{PROJECTS}/{project['id']}/archive")
    execute(database, "UPDATE api_keys SET project_archived_at = NULL")
    refused = await api.call("POST", "/v1/fine_tuning/jobs", json=body)
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "not_authorized_invalid_project"
    assert execute(database, "SELECT count(*) FROM fine_tuning_jobs") == [(0,)]
