"""Keys of a project: their end, their owner and their last use."""

import asyncio
import time

import psycopg

from tests.support.api.application import Api
from tests.support.api.organization import ADMIN_KEYS, PROJECTS, Admin, execute, status
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database


async def test_a_key_expires_at_its_stated_time(api: Api, admin: Admin, database: Database) -> None:
    project = await admin.project("a")
    key = (await admin.account(project, expires_in_seconds=3600))["api_key"]
    path = f"{PROJECTS}/{project}/api_keys/{key['id']}"
    assert 3598 <= key["expires_at"] - time.time() <= 3601
    later = await admin("POST", path, json={"expires_in_seconds": 7200})
    assert 7198 <= later["expires_at"] - time.time() <= 7201
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
    began = time.time()
    assert await status(api, key["value"]) == 200
    used = (await admin("GET", path))["last_used_at"]
    assert int(began) <= used <= time.time()
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
        async with asyncio.timeout(PATIENCE_S):
            assert await status(api, key["value"]) == 200
    path = f"{PROJECTS}/{project}/api_keys/{key['id']}"
    assert (await admin("GET", path))["last_used_at"] is None


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
