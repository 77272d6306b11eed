"""The audit log over HTTP: every change is an entry, of its organization alone, without secrets."""

import json
from typing import Any

import psycopg

from app.accounts.audit import AUDIT_EVENT_TYPES
from app.database import Database as Store
from app.settings import RetentionSettings
from tests.support.api.application import Api
from tests.support.api.audited_calls import CALLS, CHANGES_NOTHING, SECRET, TOOL, Caller
from tests.support.api.organization import ADMIN_KEYS, PROJECTS, Admin, execute
from tests.support.cases import cases
from tests.support.dashboard.scenes import create_job
from tests.support.dashboard.visits import visiting
from tests.support.stack import Database
from tests.support.web.application import specification
from workers.maintenance.expiry import retire

AUDIT = "/v1/organization/audit_logs"
IMPORTS = {"importMcpServerTools"}
"""Registers tools; `tests/app/api/test_mcp_import.py` has the server that it needs."""


async def entries(admin: Admin, **params: Any) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = (await admin("GET", AUDIT, params=params))["data"]
    return data


async def newest(admin: Admin) -> dict[str, Any]:
    return (await entries(admin, limit=1))[0]


async def test_every_operation_that_changes_something_leaves_its_entry(
    api: Api, admin: Admin, database: Database
) -> None:
    """A new operation must either leave an entry or stand among those that change nothing."""
    changing = {
        operation["operationId"]
        for methods in specification()["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }
    assert changing == CALLS.keys() | CHANGES_NOTHING.keys() | IMPORTS
    caller, missing = Caller(api, admin, database), {}
    for operation, (expected, call) in CALLS.items():
        before = (await newest(admin))["id"]
        await call(caller)
        new = await entries(admin, before=before, limit=100)
        if expected not in {entry["type"] for entry in new}:
            missing[operation] = [entry["type"] for entry in new]
        execute(database, "DELETE FROM registered_objects")  # names are unique
        execute(database, "UPDATE projects SET name = id WHERE name IN ('made', 'renamed')")
    assert missing == {}
    written = execute(database, "SELECT DISTINCT type FROM audit_logs")
    assert {kind for (kind,) in written} <= set(AUDIT_EVENT_TYPES)
    assert SECRET not in str(execute(database, "SELECT audit_logs::text FROM audit_logs"))


async def test_an_entry_has_the_hosted_shape(admin: Admin) -> None:
    project = await admin.project("rivers")
    [owner] = (await admin("GET", ADMIN_KEYS))["data"]
    entry = await newest(admin)
    assert entry == {
        "id": entry["id"],
        "type": "project.created",
        "effective_at": (await admin("GET", f"{PROJECTS}/{project}"))["created_at"],
        "actor": {
            "type": "api_key",
            "api_key": {"id": owner["id"], "type": "user", "ip_address": "127.0.0.1"},
        },
        "project": {"id": project, "name": "rivers"},
        "project.created": {"id": project, "data": {"name": "rivers", "title": "rivers"}},
    }
    assert entry["id"].startswith("audit_log-")
    await admin("POST", f"{PROJECTS}/{project}", json={"name": "lakes"})
    entry = await newest(admin)
    assert entry["project.updated"] == {"id": project, "changes_requested": {"title": "lakes"}}
    await admin("POST", f"{PROJECTS}/{project}", json={"name": "lakes"})
    assert (await newest(admin))["id"] == entry["id"]  # nothing was changed


async def test_a_key_of_a_service_account_is_named_with_its_account(api: Api, admin: Admin) -> None:
    made = await admin.account(await admin.project("p2"))
    key = made["api_key"]["value"]
    tool = (await api.call("POST", "/v1/tools", json=TOOL, key=key)).json()["id"]
    [entry] = await entries(admin, **{"actor_ids[]": made["id"]})
    assert entry["actor"]["api_key"] == {
        "id": made["api_key"]["id"],
        "type": "service_account",
        "service_account": {"id": made["id"]},
        "ip_address": "127.0.0.1",
    }
    assert entry["tool.created"] == {"id": tool, "data": {"name": "search", "version": 1}}
    assert [entry] == await entries(admin, **{"resource_ids[]": tool})
    assert [entry] == await entries(admin, **{"actor_ids[]": made["api_key"]["id"]})


async def test_sessions_of_the_dashboard_are_actors(api: Api, admin: Admin) -> None:
    job = await create_job(api)
    key = (await newest(admin))["actor"]["api_key"]["id"]
    async with visiting(api.http) as visit:
        await visit.sign_in(api.key)
        token = await visit.form_token()
        assert (await visit.post(f"/jobs/{job}/pause", {"form_token": token})).status_code == 303
        assert (await visit.post("/sign-out", {"form_token": token})).status_code == 303
    ended, paused, began = await entries(admin, limit=3)
    actor = {"type": "session", "session": {"user": {"id": key}, "ip_address": "127.0.0.1"}}
    assert [one["actor"] for one in (ended, paused, began)] == [actor] * 3
    assert (began["type"], began["login.succeeded"]) == ("login.succeeded", {})
    assert (ended["type"], ended["logout.succeeded"]) == ("logout.succeeded", {})
    assert paused["fine_tuning.job.paused"] == {"id": job}


async def test_a_session_that_another_one_replaces_is_ended_by_its_own_key(
    api: Api, admin: Admin
) -> None:
    await create_job(api)
    first = (await newest(admin))["actor"]["api_key"]["id"]
    made = await admin.account(await admin.project("p2"))
    async with visiting(api.http) as visit:
        await visit.sign_in(api.key)
        await visit.sign_in(made["api_key"]["value"])
    ended, began = await entries(admin, limit=2)
    assert [one["type"] for one in (ended, began)] == ["logout.succeeded", "login.succeeded"]
    keys = [one["actor"]["session"]["user"]["id"] for one in (ended, began)]
    assert keys == [first, made["api_key"]["id"]]
    assert await entries(admin, **{"resource_ids[]": first, "event_types[]": ended["type"]}) == [
        ended
    ]


async def test_the_commands_of_the_operator_are_actors(admin: Admin) -> None:
    first = (await entries(admin, limit=100))[-1]
    assert (first["type"], first["actor"]) == ("project.created", {"type": "command_line"})


async def test_a_refused_change_leaves_no_entry(api: Api, admin: Admin) -> None:
    await admin.project("p2")
    last = (await newest(admin))["id"]
    [owner] = (await admin("GET", ADMIN_KEYS))["data"]
    await admin.refused(400, "POST", PROJECTS, json={"name": "p2"})
    await admin.refused(400, "DELETE", f"{ADMIN_KEYS}/{owner['id']}")
    assert (await api.call("DELETE", "/v1/files/file-never")).status_code == 404
    assert (await newest(admin))["id"] == last


async def test_filters_and_pages(admin: Admin, database: Database) -> None:
    made = [await admin.project(f"p{number}") for number in range(4)]
    execute(
        database,
        "UPDATE audit_logs"
        " SET effective_at = to_timestamp(1000.5 + array_position(%s, resource_id))"
        " WHERE type = 'project.created' AND resource_id = ANY(%s)",
        made,
        made,
    )
    both = {"event_types[]": ["project.created", "project.archived"]}

    async def found(**params: Any) -> list[int]:
        rows = await entries(admin, **both, **params)
        return [made.index(row["project"]["id"]) for row in rows if row["project"]["id"] in made]

    assert await found() == [3, 2, 1, 0]
    bounds = {"gt": [3, 2], "gte": [3, 2, 1], "lt": [0], "lte": [1, 0]}
    for bound, expected in bounds.items():
        assert await found(**{f"effective_at[{bound}]": 1002}) == expected, bound
    assert await found(**{"project_ids[]": [made[0], made[2]]}) == [2, 0]
    page = await admin("GET", AUDIT, params={**both, "limit": 2})
    assert (len(page["data"]), page["has_more"]) == (2, True)
    assert await found(limit=2, after=page["last_id"]) == [1, 0]
    older = await admin("GET", AUDIT, params={**both, "limit": 1, "after": page["last_id"]})
    assert await found(before=older["first_id"], limit=1) == [2]
    assert await found(before=older["first_id"]) == [3, 2]


async def test_the_export_has_every_entry_in_a_line(api: Api, admin: Admin) -> None:
    for number in range(3):
        await admin.project(f"p{number}")
    reply = await api.call("GET", f"{AUDIT}/export", key=admin.key)
    assert reply.headers["content-disposition"] == 'attachment; filename="audit_logs.jsonl"'
    lines = [json.loads(line) for line in reply.text.splitlines()]
    listed = await entries(admin, limit=100)
    assert [line["id"] for line in lines] == [one["id"] for one in listed]
    assert [line[line["type"]] for line in lines] == [one[one["type"]] for one in listed]
    only = {"event_types[]": "project.created"}
    reply = await api.call("GET", f"{AUDIT}/export", key=admin.key, params=only)
    assert len(reply.text.splitlines()) == 4


@cases(
    ("params", "param"),
    [
        ({"event_types[]": "project.create"}, "event_types[]"),
        ({"effective_at[gt]": "x"}, "effective_at[gt]"),
        ({"after": "audit_log-never"}, "after"),
        ({"limit": 101}, "limit"),
    ],
)
async def test_wrong_parameters_are_named(admin: Admin, params: dict[str, Any], param: str) -> None:
    error = await admin.refused(400, "GET", AUDIT, params=params)
    assert error["param"].startswith(param)


async def test_an_organization_sees_its_own_entries_only(
    api: Api, admin: Admin, stranger: Admin
) -> None:
    await create_job(api)
    mine = await newest(admin)
    assert mine["type"] == "fine_tuning.job.created"
    theirs = await entries(stranger, limit=100)
    assert mine["id"] not in {one["id"] for one in theirs}
    assert await entries(stranger, **{"project_ids[]": mine["project"]["id"]}) == []
    never = await stranger.refused(400, "GET", AUDIT, params={"after": "audit_log-never"})
    foreign = await stranger.refused(400, "GET", AUDIT, params={"after": mine["id"]})
    assert never["message"] == foreign["message"].replace(mine["id"], "audit_log-never")
    for path in (AUDIT, f"{AUDIT}/export"):
        assert (await api.call("GET", path)).status_code == 403
        assert (await api.http.get(path)).status_code == 401


async def test_no_service_role_changes_or_removes_an_entry(database: Database) -> None:
    rights = execute(
        database,
        "SELECT grantee, privilege_type FROM information_schema.table_privileges"
        " WHERE table_name = 'audit_logs' AND grantee LIKE 'agent_rft_%%'"
        " AND grantee <> 'agent_rft_owner' ORDER BY 1, 2",
    )
    assert rights == [("agent_rft_app", "SELECT"), ("agent_rft_worker", "DELETE")]


async def test_a_worker_removes_entries_only_as_the_service_itself(
    admin: Admin, database: Database
) -> None:
    await admin.project("p2")
    [[organization]] = execute(
        database, "SELECT organization_id FROM audit_logs ORDER BY seq DESC LIMIT 1"
    )
    removed = {}
    with psycopg.connect(database.worker_url.replace("+psycopg", "")) as connection:
        for setting, value in (("organization", organization), ("system", "on")):
            connection.execute("SELECT set_config(%s, %s, true)", (f"app.{setting}", value))
            removed[setting] = connection.execute("DELETE FROM audit_logs").rowcount > 0
            connection.rollback()
    assert removed == {"organization": False, "system": True}


async def test_old_entries_are_removed_where_the_operator_sets_a_retention(
    admin: Admin, database: Database
) -> None:
    kept = await admin.project("kept")
    execute(
        database,
        "UPDATE audit_logs SET effective_at = now() - interval '31 days' WHERE resource_id <> %s",
        kept,
    )
    before = len(await entries(admin, limit=100))
    worker = Store(database.worker_url, pool_size=1)
    await retire(worker, RetentionSettings(audit_logs_days=32))
    await retire(worker, RetentionSettings())
    assert len(await entries(admin, limit=100)) == before > 1
    await retire(worker, RetentionSettings(audit_logs_days=30))
    await worker.dispose()
    assert [one["project.created"]["id"] for one in await entries(admin)] == [kept]
