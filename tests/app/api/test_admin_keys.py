"""Admin keys of an organization: shown once, and never all deleted."""

import asyncio

from tests.support.api.application import Api
from tests.support.api.organization import ADMIN_KEYS, Admin, execute, opens
from tests.support.stack import Database


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
    living = [value for value in values if await opens(api, value)]
    assert len(living) == 1
