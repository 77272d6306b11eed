"""Service accounts of a project, and the keys made with them."""

from tests.support.api.application import Api
from tests.support.api.organization import PROJECTS, Admin, execute, status
from tests.support.stack import Database


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
            "scopes": None,
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
        "scopes": None,
        "owner_project_access": "active",
    }
    secret = first["value"].split("_")[3]
    assert secret[:36] not in shown["redacted_value"]
    assert len(shown["redacted_value"]) < 30
    dump = execute(database, "SELECT k::text FROM api_keys k")
    assert any(first["id"] in str(row) for row in dump)
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
    key = await admin("POST", f"{path}/api_keys", json={})
    assert (key["name"], await status(api, key["value"])) == ("ci", 200)
    assert (await admin("GET", path))["role"] == "owner"
