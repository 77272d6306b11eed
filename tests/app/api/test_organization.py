"""Access to an organization's administration, and its replies to wrong calls."""

from typing import Any

from tests.support.api.application import Api
from tests.support.api.organization import ADMIN_KEYS, PROJECTS, Admin, execute, status
from tests.support.cases import cases
from tests.support.stack import Database

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


@cases(
    ("path", "body", "param"),
    [
        (PROJECTS, {}, "name"),
        (PROJECTS, {"name": "x" * 257}, "name"),
        (PROJECTS, {"name": "x", "residency": "EU_STORAGE_PROCESSING"}, "residency"),
        (PROJECTS, {"name": "x", "external_key_id": "k"}, "external_key_id"),
        (ADMIN_KEYS, {"name": "x", "expires_in_seconds": 0}, "expires_in_seconds"),
        (ADMIN_KEYS, {"name": "x", "expires_in_seconds": "60"}, "expires_in_seconds"),
        ("ACCOUNTS", {"name": ["x"]}, "name"),
        (
            "ACCOUNTS",
            {"name": "x", "create_service_account_only": True, "expires_in_seconds": 9},
            "expires_in_seconds",
        ),
        ("ACCOUNT", {"role": "none"}, "role"),
        ("ACCOUNT", {"role": "admin"}, "role"),
        ("ACCOUNT/api_keys", {"scopes": ["api.all.read"]}, "scopes[0]"),
        ("KEY", {}, "expires_in_seconds"),
        ("KEY", {"expires_in_seconds": 0}, "expires_in_seconds"),
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


@cases(
    ("query", "param"),
    [
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
    project = await admin("POST", PROJECTS, json={"name": "a"})
    path = f"{PROJECTS}/{project['id']}"
    account = await admin.account(project["id"])
    for key, value in forced.items():
        for target in (
            PROJECTS,
            path,
            f"{path}/service_accounts",
            f"{path}/service_accounts/{account['id']}",
            ADMIN_KEYS,
        ):
            error = await admin.refused(400, "POST", target, json={"name": "a", key: value})
            assert (error["param"], error["code"]) == (key, "unknown_parameter"), target
    changed = await admin("POST", f"{path}/service_accounts/{account['id']}", json={"name": "d"})
    assert changed == {
        "id": account["id"],
        "object": "organization.project.service_account",
        "name": "d",
        "role": "member",
        "created_at": account["created_at"],
    }
    rows = execute(
        database,
        "SELECT count(*) FROM api_keys JOIN projects p ON p.id = project_id WHERE p.id = %s",
        theirs,
    )
    assert rows == [(0,)]
    assert [row["name"] for row in (await stranger("GET", PROJECTS))["data"]] == ["p", "theirs"]


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
