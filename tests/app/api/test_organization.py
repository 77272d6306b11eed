"""An organization's administration over HTTP: access, replies, and changes that apply at once."""

import asyncio
import time
from typing import Any

import psycopg
import pytest

from app.factory import provisioning_service
from app.store.database import Database as Store
from tests.support.api.application import Api
from tests.support.stack import Database

ROOT = "/v1/organization"
PROJECTS = f"{ROOT}/projects"
ADMIN_KEYS = f"{ROOT}/admin_api_keys"


class Admin:
    """Calls with an admin key; `refused` makes calls that must fail."""

    def __init__(self, api: Api, key: str) -> None:
        self.api, self.key = api, key

    async def __call__(self, method: str, path: str, **kwargs: Any) -> Any:
        reply = await self.api.call(method, path, key=self.key, **kwargs)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def refused(self, status: int, method: str, path: str, **kwargs: Any) -> Any:
        reply = await self.api.call(method, path, key=self.key, **kwargs)
        assert reply.status_code == status, reply.text
        error = reply.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error

    async def project(self, name: str) -> str:
        return str((await self("POST", PROJECTS, json={"name": name}))["id"])

    async def account(self, project: str, **body: Any) -> Any:
        path = f"{PROJECTS}/{project}/service_accounts"
        return await self("POST", path, json={"name": "ci"} | body)


@pytest.fixture
def admin(api: Api) -> Admin:
    return Admin(api, api.admin_key)


@pytest.fixture
async def stranger(api: Api, database: Database) -> Admin:
    """The administration of the other organization."""
    store = Store(database.settings.database_url, pool_size=1)
    provisioned = await provisioning_service(database.settings, store).provision(
        slug="second", title="Second", project_name="p"
    )
    await store.dispose()
    return Admin(api, provisioned.admin_key)


async def status(api: Api, key: str) -> int:
    return int((await api.call("GET", "/v1/models", key=key)).status_code)


def execute(database: Database, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        cursor = connection.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description else []


PATHS = [
    ("GET", PROJECTS, None),
    ("POST", PROJECTS, {"name": "x"}),
    ("GET", f"{PROJECTS}/proj_x", None),
    ("POST", f"{PROJECTS}/proj_x", {"name": "x"}),
    ("POST", f"{PROJECTS}/proj_x/archive", None),
    ("GET", f"{PROJECTS}/proj_x/api_keys", None),
    ("GET", f"{PROJECTS}/proj_x/api_keys/key_x", None),
    ("POST", f"{PROJECTS}/proj_x/api_keys/key_x", {"expires_in_seconds": 9}),
    ("DELETE", f"{PROJECTS}/proj_x/api_keys/key_x", None),
    ("GET", f"{PROJECTS}/proj_x/service_accounts", None),
    ("POST", f"{PROJECTS}/proj_x/service_accounts", {"name": "x"}),
    ("GET", f"{PROJECTS}/proj_x/service_accounts/svc_x", None),
    ("POST", f"{PROJECTS}/proj_x/service_accounts/svc_x", {"name": "x"}),
    ("DELETE", f"{PROJECTS}/proj_x/service_accounts/svc_x", None),
    ("POST", f"{PROJECTS}/proj_x/service_accounts/svc_x/api_keys", {}),
    ("GET", ADMIN_KEYS, None),
    ("POST", ADMIN_KEYS, {"name": "x"}),
    ("GET", f"{ADMIN_KEYS}/key_x", None),
    ("DELETE", f"{ADMIN_KEYS}/key_x", None),
]


async def test_a_projects_key_administers_nothing_and_unknown_ids_are_not_found(
    api: Api, admin: Admin
) -> None:
    for method, path, body in PATHS:
        refused = await api.call(method, path, json=body)
        assert refused.status_code == 403, (method, path)
        assert refused.json()["error"]["code"] == "permission_denied"
        nameless = await api.http.request(method, path, json=body)
        assert nameless.status_code == 401, (method, path)
        if "_x" in path:
            await admin.refused(404, method, path, json=body)


async def test_what_is_not_offered_answers_the_404_envelope(admin: Admin) -> None:
    project = await admin.project("a")
    of_organization = (
        "users invites roles groups audit_logs costs usage/completions certificates spend_limit"
    )
    of_project = "users rate_limits groups certificates model_permissions spend_alerts"
    for path in [
        *(f"{ROOT}/{name}" for name in of_organization.split()),
        *(f"{PROJECTS}/{project}/{name}" for name in of_project.split()),
    ]:
        await admin.refused(404, "GET", path)


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


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        (PROJECTS, {}, "name"),
        (PROJECTS, {"name": ""}, "name"),
        (PROJECTS, {"name": "x" * 257}, "name"),
        (PROJECTS, {"name": 7}, "name"),
        (PROJECTS, {"name": None}, "name"),
        (PROJECTS, {"name": "x", "residency": "EU_STORAGE_PROCESSING"}, "residency"),
        (PROJECTS, {"name": "x", "geography": "EU"}, "geography"),
        (PROJECTS, {"name": "x", "external_key_id": "k"}, "external_key_id"),
        (ADMIN_KEYS, {}, "name"),
        (ADMIN_KEYS, {"name": "x", "expires_in_seconds": 0}, "expires_in_seconds"),
        (ADMIN_KEYS, {"name": "x", "expires_in_seconds": 31_536_001}, "expires_in_seconds"),
        (ADMIN_KEYS, {"name": "x", "expires_in_seconds": "60"}, "expires_in_seconds"),
        (ADMIN_KEYS, {"name": "x", "expires_in_seconds": 1.5}, "expires_in_seconds"),
        ("ACCOUNTS", {}, "name"),
        ("ACCOUNTS", {"name": ["x"]}, "name"),
        ("ACCOUNTS", {"name": "x", "expires_in_seconds": -1}, "expires_in_seconds"),
        (
            "ACCOUNTS",
            {"name": "x", "create_service_account_only": True, "expires_in_seconds": 9},
            "expires_in_seconds",
        ),
        ("ACCOUNT", {"role": "none"}, "role"),
        ("ACCOUNT", {"role": "admin"}, "role"),
        ("ACCOUNT", {"name": ""}, "name"),
        ("ACCOUNT/api_keys", {"scopes": ["api.all.read"]}, "scopes"),
        ("ACCOUNT/api_keys", {"name": ""}, "name"),
        ("KEY", {}, "expires_in_seconds"),
        ("KEY", {"expires_in_seconds": None}, "expires_in_seconds"),
        ("KEY", {"expires_in_seconds": 0}, "expires_in_seconds"),
        ("KEY", {"scopes": ["api.all.read"]}, "scopes"),
        ("KEY", {"scopes": "all"}, "scopes"),
    ],
)
async def test_a_bad_body_is_refused_with_its_parameter(
    admin: Admin, path: str, body: dict[str, Any], param: str
) -> None:
    project = await admin.project("a")
    account = await admin.account(project)
    of_project = f"{PROJECTS}/{project}"
    path = path.replace("ACCOUNTS", f"{of_project}/service_accounts")
    path = path.replace("ACCOUNT", f"{of_project}/service_accounts/{account['id']}")
    path = path.replace("KEY", f"{of_project}/api_keys/{account['api_key']['id']}")
    assert (await admin.refused(400, "POST", path, json=body))["param"] == param


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"after": "proj_none"}, "after"),
        ({"include_archived": "perhaps"}, "include_archived"),
    ],
)
async def test_a_bad_query_is_refused_with_its_parameter(
    admin: Admin, query: dict[str, Any], param: str
) -> None:
    assert (await admin.refused(400, "GET", PROJECTS, params=query))["param"] == param


async def test_a_caller_sets_nothing_but_what_the_body_is_for(
    admin: Admin, stranger: Admin, database: Database
) -> None:
    theirs = await stranger.project("theirs")
    [[organization]] = execute(
        database, "SELECT organization_id FROM projects WHERE id = %s", theirs
    )
    forced = {
        "id": "forced",
        "organization_id": organization,
        "project_id": theirs,
        "created_at": 1,
        "archived_at": 1,
        "revoked_at": 1,
        "status": "archived",
        "kind": "admin",
        "key_id": "A" * 16,
        "value": "art_admin_x",
        "owner": {"id": "me"},
        "last_used_at": 1,
    }
    project = await admin("POST", PROJECTS, json=forced | {"name": "a"})
    assert (project["status"], project["archived_at"]) == ("active", None)
    path = f"{PROJECTS}/{project['id']}"
    assert (await admin("POST", path, json=forced)) == project
    account = await admin.account(project["id"], role="owner", **forced)
    assert account["role"] == "member"
    key = await admin("POST", ADMIN_KEYS, json=forced | {"name": "k"})
    changed = await admin(
        "POST",
        f"{path}/service_accounts/{account['id']}",
        json=forced | {"name": "d"},
    )
    assert changed == {
        "id": account["id"],
        "object": "organization.project.service_account",
        "name": "d",
        "role": "member",
        "created_at": account["created_at"],
    }
    for row in (project, account, account["api_key"], key):
        assert row["id"] != "forced"
        assert row["created_at"] > 1
    assert account["api_key"]["value"].startswith("art_project_")
    rows = execute(
        database,
        "SELECT count(*) FROM api_keys JOIN projects p ON p.id = project_id WHERE p.id = %s",
        theirs,
    )
    assert rows == [(0,)]
    assert [row["name"] for row in (await stranger("GET", PROJECTS))["data"]] == ["p", "theirs"]


async def test_a_service_accounts_keys_open_its_project_until_they_are_taken(
    api: Api, admin: Admin, database: Database
) -> None:
    project = await admin.project("a")
    accounts = f"{PROJECTS}/{project}/service_accounts"
    keys = f"{PROJECTS}/{project}/api_keys"
    account = await admin.account(project)
    first = account["api_key"]
    assert account == {
        "id": account["id"],
        "object": "organization.project.service_account",
        "name": "ci",
        "role": "member",
        "created_at": account["created_at"],
        "api_key": {
            "id": first["id"],
            "object": "organization.project.service_account.api_key",
            "name": "ci",
            "created_at": first["created_at"],
            "expires_at": None,
            "value": first["value"],
        },
    }
    second = await admin("POST", f"{accounts}/{account['id']}/api_keys", json={"name": "next"})
    assert [await status(api, key["value"]) for key in (first, second)] == [200, 200]
    listed = await admin("GET", keys)
    assert [row["id"] for row in listed["data"]] == [first["id"], second["id"]]
    shown = listed["data"][0]
    assert shown == {
        "id": first["id"],
        "object": "organization.project.api_key",
        "name": "ci",
        "redacted_value": shown["redacted_value"],
        "created_at": first["created_at"],
        "expires_at": None,
        "last_used_at": shown["last_used_at"],
        "owner": {
            "type": "service_account",
            "service_account": {
                "id": account["id"],
                "name": "ci",
                "created_at": account["created_at"],
                "role": "member",
            },
        },
        "owner_project_access": "active",
    }
    secret = first["value"].split("_")[3]
    assert secret[:36] not in shown["redacted_value"]
    assert len(shown["redacted_value"]) < 30
    dump = execute(database, "SELECT k::text FROM api_keys k")
    assert all(secret not in str(row) for row in dump)

    gone = await admin("DELETE", f"{keys}/{first['id']}")
    assert gone == {
        "id": first["id"],
        "object": "organization.project.api_key.deleted",
        "deleted": True,
    }
    assert [await status(api, key["value"]) for key in (first, second)] == [401, 200]
    await admin.refused(404, "GET", f"{keys}/{first['id']}")
    await admin.refused(404, "DELETE", f"{keys}/{first['id']}")
    gone = await admin("DELETE", f"{accounts}/{account['id']}")
    assert gone["object"] == "organization.project.service_account.deleted"
    assert await status(api, second["value"]) == 401
    await admin.refused(404, "GET", f"{accounts}/{account['id']}")
    await admin.refused(404, "POST", f"{accounts}/{account['id']}/api_keys", json={})
    assert (await admin("GET", accounts))["data"] == []
    assert (await admin("GET", keys))["data"] == []


async def test_an_account_without_a_role_gets_no_key_until_it_has_one(
    api: Api, admin: Admin
) -> None:
    project = await admin.project("a")
    account = await admin.account(project, create_service_account_only=True)
    assert (account["role"], account["api_key"]) == ("none", None)
    path = f"{PROJECTS}/{project}/service_accounts/{account['id']}"
    refused = await admin.refused(400, "POST", f"{path}/api_keys", json={})
    assert refused["code"] == "invalid_state"
    assert (await admin("POST", path, json={"role": "owner"}))["role"] == "owner"
    key = await admin("POST", f"{path}/api_keys", json={"scopes": []})
    assert (key["name"], await status(api, key["value"])) == ("ci", 200)
    assert (await admin("GET", path))["role"] == "owner"


async def test_a_key_ends_when_it_says(api: Api, admin: Admin, database: Database) -> None:
    project = await admin.project("a")
    key = (await admin.account(project, expires_in_seconds=3600))["api_key"]
    path = f"{PROJECTS}/{project}/api_keys/{key['id']}"
    assert 3598 <= key["expires_at"] - time.time() <= 3601
    later = await admin("POST", path, json={"expires_in_seconds": 7200})
    assert 7198 <= later["expires_at"] - time.time() <= 7201
    assert await admin("POST", path, json={"scopes": []}) == later
    assert await status(api, key["value"]) == 200
    minted = await admin("POST", ADMIN_KEYS, json={"name": "n", "expires_in_seconds": 60})
    past = "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = %s"
    for row in (key, minted):
        execute(database, past, row["id"])
    assert await status(api, key["value"]) == 401
    await Admin(api, minted["value"]).refused(401, "GET", PROJECTS)
    refused = await admin.refused(400, "POST", path, json={"expires_in_seconds": 60})
    assert refused["code"] == "key_expired"
    assert (await admin("GET", path))["expires_at"] < time.time()


async def test_admin_keys_are_shown_once_and_the_last_one_stays(
    api: Api, admin: Admin, database: Database
) -> None:
    [first] = (await admin("GET", ADMIN_KEYS))["data"]
    assert first["owner"] == {
        "type": "user",
        "object": "organization.user",
        "id": first["owner"]["id"],
        "name": "First",
        "created_at": first["owner"]["created_at"],
        "role": "owner",
    }
    path = f"{ADMIN_KEYS}/{first['id']}"
    refused = await admin.refused(400, "DELETE", path)
    assert (refused["code"], refused["param"]) == ("last_admin_key", "key_id")
    made = await admin("POST", ADMIN_KEYS, json={"name": "second", "expires_in_seconds": 60})
    value = made.pop("value")
    assert await admin("GET", f"{ADMIN_KEYS}/{made['id']}") == made
    assert value.split("_")[3][:36] not in str(made)
    listed = await admin("GET", ADMIN_KEYS, params={"order": "desc"})
    assert [row["id"] for row in listed["data"]] == [made["id"], first["id"]]
    execute(
        database,
        "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = %s",
        made["id"],
    )
    await admin.refused(400, "DELETE", path)  # an expired key opens nothing
    third = await admin("POST", ADMIN_KEYS, json={"name": "third"})
    successor = Admin(api, third["value"])
    assert await successor("DELETE", path) == {
        "id": first["id"],
        "object": "organization.admin_api_key.deleted",
        "deleted": True,
    }
    await admin.refused(401, "GET", ADMIN_KEYS)
    await successor.refused(404, "GET", path)
    assert (await successor.refused(400, "DELETE", f"{ADMIN_KEYS}/{third['id']}"))["code"] == (
        "last_admin_key"
    )
    await successor("DELETE", f"{ADMIN_KEYS}/{made['id']}")


async def test_of_admin_keys_deleted_at_once_one_stays(api: Api, admin: Admin) -> None:
    ids = [(await admin("GET", ADMIN_KEYS))["data"][0]["id"]]
    made = [await admin("POST", ADMIN_KEYS, json={"name": str(n)}) for n in range(4)]
    ids += [key["id"] for key in made]
    values = [admin.key, *(key["value"] for key in made)]
    replies = await asyncio.gather(
        *(
            api.call("DELETE", f"{ADMIN_KEYS}/{key_id}", key=value)
            for key_id, value in zip(ids, values, strict=True)
        )
    )
    codes = sorted(reply.status_code for reply in replies)
    assert codes == [200, 200, 200, 200, 400], [reply.text for reply in replies]
    living = [value for value in values if await _opens(api, value)]
    assert len(living) == 1


async def _opens(api: Api, value: str) -> bool:
    return bool((await api.call("GET", ADMIN_KEYS, key=value)).status_code == 200)


async def test_nothing_of_another_organization_is_seen_or_changed(
    api: Api, admin: Admin, stranger: Admin
) -> None:
    project = await admin.project("mine")
    account = await admin.account(project)
    key = account["api_key"]
    admin_key = await admin("POST", ADMIN_KEYS, json={"name": "mine"})
    own = await stranger.project("own")
    of_mine = f"{PROJECTS}/{project}"
    calls: list[tuple[str, str, Any]] = [
        ("GET", of_mine, None),
        ("POST", of_mine, {"name": "taken over"}),
        ("POST", f"{of_mine}/archive", None),
        ("GET", f"{of_mine}/api_keys", None),
        ("GET", f"{of_mine}/service_accounts", None),
        ("POST", f"{of_mine}/service_accounts", {"name": "spy"}),
        ("GET", f"{ADMIN_KEYS}/{admin_key['id']}", None),
        ("DELETE", f"{ADMIN_KEYS}/{admin_key['id']}", None),
    ]
    for base in (of_mine, f"{PROJECTS}/{own}"):  # also through a project of their own
        calls += [
            ("GET", f"{base}/api_keys/{key['id']}", None),
            ("POST", f"{base}/api_keys/{key['id']}", {"expires_in_seconds": 1}),
            ("DELETE", f"{base}/api_keys/{key['id']}", None),
            ("GET", f"{base}/service_accounts/{account['id']}", None),
            ("POST", f"{base}/service_accounts/{account['id']}", {"name": "x"}),
            ("POST", f"{base}/service_accounts/{account['id']}/api_keys", {}),
            ("DELETE", f"{base}/service_accounts/{account['id']}", None),
        ]
    for method, path, body in calls:
        await stranger.refused(404, method, path, json=body)
    # Nor across two projects of one organization.
    sibling = await admin.project("sibling")
    await admin.refused(404, "GET", f"{PROJECTS}/{sibling}/api_keys/{key['id']}")
    await admin.refused(404, "DELETE", f"{PROJECTS}/{sibling}/service_accounts/{account['id']}")
    for path, after in (
        (PROJECTS, project),
        (ADMIN_KEYS, admin_key["id"]),
        (f"{PROJECTS}/{own}/api_keys", key["id"]),
        (f"{PROJECTS}/{own}/service_accounts", account["id"]),
    ):
        refused = await stranger.refused(400, "GET", path, params={"after": after})
        assert refused["param"] == "after"
    assert (await admin("GET", of_mine))["name"] == "mine"
    assert (await admin("GET", f"{of_mine}/service_accounts"))["data"][0]["name"] == "ci"
    assert await status(api, key["value"]) == 200
    assert project not in str(await stranger("GET", PROJECTS))
    assert admin_key["id"] not in str(await stranger("GET", ADMIN_KEYS))


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


async def test_the_operators_keys_belong_to_the_organization(
    admin: Admin, database: Database
) -> None:
    [project] = (await admin("GET", PROJECTS))["data"]
    path = f"{PROJECTS}/{project['id']}/api_keys"
    [key] = (await admin("GET", path))["data"]
    [[organization]] = execute(
        database, "SELECT organization_id FROM projects WHERE id = %s", project["id"]
    )
    assert key["name"] == "development"
    assert key["owner"]["type"] == "user"
    assert key["owner"]["user"]["id"] == organization
    assert key["owner"]["user"]["name"] == "First"
    for access, count in (("active", 1), ("any", 1), ("inactive", 0)):
        page = await admin("GET", path, params={"owner_project_access": access})
        assert len(page["data"]) == count


async def test_the_last_use_of_a_key_is_noted_once_a_minute(
    api: Api, admin: Admin, database: Database
) -> None:
    project = await admin.project("a")
    key = (await admin.account(project))["api_key"]
    path = f"{PROJECTS}/{project}/api_keys/{key['id']}"
    assert (await admin("GET", path))["last_used_at"] is None
    assert await status(api, key["value"]) == 200
    used = (await admin("GET", path))["last_used_at"]
    assert abs(used - time.time()) < 5
    version = "SELECT xmin::text FROM api_keys WHERE id = %s"
    before = execute(database, version, key["id"])
    await asyncio.gather(*(status(api, key["value"]) for _ in range(8)))
    assert execute(database, version, key["id"]) == before
    execute(
        database,
        "UPDATE api_keys SET last_used_at = now() - interval '61 seconds' WHERE id = %s",
        key["id"],
    )
    assert await status(api, key["value"]) == 200
    assert (await admin("GET", path))["last_used_at"] >= used


async def test_a_note_that_cannot_be_made_costs_no_request(
    api: Api, admin: Admin, database: Database
) -> None:
    project = await admin.project("a")
    key = (await admin.account(project))["api_key"]
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as holder:
        holder.execute("SELECT FROM api_keys WHERE id = %s FOR UPDATE", (key["id"],))
        async with asyncio.timeout(5):
            assert await status(api, key["value"]) == 200
    path = f"{PROJECTS}/{project}/api_keys/{key['id']}"
    assert (await admin("GET", path))["last_used_at"] is None


async def test_archiving_under_an_idempotency_key_is_done_once(
    api: Api, admin: Admin, body: dict[str, Any], database: Database
) -> None:
    job = (await api.call("POST", "/v1/fine_tuning/jobs", json=body)).json()["id"]
    [project] = (await admin("GET", PROJECTS))["data"]
    path = f"{PROJECTS}/{project['id']}/archive"
    async with asyncio.timeout(20):
        once = await admin("POST", path, headers={"Idempotency-Key": "k"})
        again = await admin("POST", path, headers={"Idempotency-Key": "k"})
    assert once == again
    assert execute(database, "SELECT status FROM fine_tuning_jobs WHERE id = %s", job) == [
        ("cancelled",)
    ]


async def test_a_keys_value_answered_twice_lies_nowhere_in_the_clear(
    admin: Admin, database: Database
) -> None:
    project = await admin.project("a")
    for path in (ADMIN_KEYS, f"{PROJECTS}/{project}/service_accounts"):
        sent = {"json": {"name": "n"}, "headers": {"Idempotency-Key": "k" + path}}
        once, again = [await admin("POST", path, **sent) for _ in range(2)]
        assert once == again
        value = (once.get("api_key") or once)["value"]
        for [body] in execute(database, "SELECT body FROM stored_responses"):
            assert value.split("_")[3].encode() not in body
            assert b"art_" not in body
        execute(database, "UPDATE stored_responses SET body = 'damaged'")
        refused = await admin.refused(422, "POST", path, **sent)
        assert refused["param"] == "Idempotency-Key"
