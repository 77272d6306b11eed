"""Two projects of one organization: a key of one cannot read the other, and an expired or deleted
key cannot read anything, not even an answer that it got before.
"""

from typing import Any

import psycopg

from tests.support.api.application import Api
from tests.support.registry.recipes import OWN
from tests.support.stack import Database

PROJECTS = "/v1/organization/projects"
JOBS = "/v1/fine_tuning/jobs"
GRADER = {"type": "endpoint", "url": "http://127.0.0.1:9"}
HOOK = {"name": "h", "url": "http://127.0.0.1:9/hook", "event_types": ["fine_tuning.job.succeeded"]}
EVAL = {
    "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
    "testing_criteria": [
        {"type": "string_check", "name": "s", "input": "a", "reference": "b", "operation": "eq"}
    ],
}


async def sibling(api: Api) -> tuple[str, str, dict[str, Any]]:
    """Returns the id, a key and the service account of another project of the organization."""
    made = await api.call("POST", PROJECTS, key=api.admin_key, json={"name": "sibling"})
    project = made.json()["id"]
    account = await api.call(
        "POST", f"{PROJECTS}/{project}/service_accounts", key=api.admin_key, json={"name": "ci"}
    )
    return project, account.json()["api_key"]["value"], account.json()


async def everything(api: Api, body: dict[str, Any]) -> dict[str, str]:
    """Creates one object of each kind with the first key. Returns their ids by collection."""
    calls = {
        JOBS: body,
        "/v1/tools": {"name": "search", "server_url": "http://127.0.0.1:9/s"},
        "/v1/graders": {"name": "g", "grader": GRADER},
        "/v1/environments": {"name": "e", "url": "http://127.0.0.1:9/world"},
        "/v1/recipes": OWN,
        "/v1/webhook_endpoints": HOOK,
        "/v1/evals": EVAL,
    }
    made = {path: await api.call("POST", path, json=call) for path, call in calls.items()}
    assert all(reply.is_success for reply in made.values()), [r.text for r in made.values()]
    return {
        "/v1/files": body["training_file"],
        **{path: reply.json()["id"] for path, reply in made.items()},
    }


async def test_a_service_account_reads_nothing_of_another_project(
    api: Api, body: dict[str, Any]
) -> None:
    _, key, _ = await sibling(api)
    for collection, object_id in (await everything(api, body)).items():
        for path in (f"{collection}/{object_id}", f"{collection}/never-was"):
            assert (await api.call("GET", path, key=key)).status_code == 404, path
        if collection != JOBS:
            deleted = await api.call("DELETE", f"{collection}/{object_id}", key=key)
            assert deleted.status_code == 404, collection
        kept = await api.call("GET", f"{collection}/{object_id}")
        assert kept.status_code == 200, collection
        listed = (await api.call("GET", collection, key=key)).json()
        own = [each for each in listed["data"] if each.get("owner") != "service"]
        assert own == [], collection
    for action in ("cancel", "pause", "resume"):
        job = (await api.call("GET", JOBS)).json()["data"][0]["id"]
        assert (await api.call("POST", f"{JOBS}/{job}/{action}", key=key)).status_code == 404


async def test_what_another_project_holds_cannot_be_built_on(
    api: Api, body: dict[str, Any]
) -> None:
    _, key, _ = await sibling(api)
    ids = await everything(api, body)
    reply = await api.call("POST", JOBS, json=body, key=key)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "file_not_found")
    for name, collection in (
        ("grader", "/v1/graders"),
        ("tools", "/v1/tools"),
        ("environment", "/v1/environments"),
    ):
        value: Any = {"id": ids[collection]}
        inner = {"grader": GRADER} | {name: [value] if name == "tools" else value}
        method = {"type": "reinforcement", "reinforcement": inner}
        reply = await api.call("POST", JOBS, json={**body, "method": method}, key=key)
        assert reply.status_code == 400, reply.text
        assert reply.json()["error"]["param"].startswith(f"method.reinforcement.{name}")
    assert (await api.call("GET", JOBS, key=key)).json()["data"] == []


async def test_a_key_of_one_project_does_not_name_another(api: Api) -> None:
    project, _, _ = await sibling(api)
    reply = await api.call("GET", JOBS, headers={"OpenAI-Project": project})
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "mismatched_project")


async def test_a_key_that_ended_is_given_no_answer_again(api: Api) -> None:
    project, key, account = await sibling(api)
    call: dict[str, Any] = {"json": EVAL, "headers": {"Idempotency-Key": "k"}, "key": key}
    assert (await api.call("POST", "/v1/evals", **call)).status_code == 201
    assert (await api.call("POST", "/v1/evals", **call)).headers["idempotent-replayed"] == "true"
    path = f"{PROJECTS}/{project}/api_keys/{account['api_key']['id']}"
    assert (await api.call("DELETE", path, key=api.admin_key)).status_code == 200
    refused = await api.call("POST", "/v1/evals", **call)
    assert refused.status_code == 401
    assert "idempotent-replayed" not in refused.headers


async def test_an_archived_project_gives_no_answer_again(api: Api, database: Database) -> None:
    project, key, _ = await sibling(api)
    call: dict[str, Any] = {"json": EVAL, "headers": {"Idempotency-Key": "k"}, "key": key}
    assert (await api.call("POST", "/v1/evals", **call)).status_code == 201
    archived = await api.call("POST", f"{PROJECTS}/{project}/archive", key=api.admin_key)
    assert archived.status_code == 200
    refused = await api.call("POST", "/v1/evals", **call)
    assert refused.status_code == 401
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        [[count]] = connection.execute("SELECT count(*) FROM evals").fetchall()
    assert count == 1


async def test_an_admin_key_tests_and_rotates_no_webhook(api: Api) -> None:
    made = (await api.call("POST", "/v1/webhook_endpoints", json=HOOK)).json()
    url_path = f"/v1/webhook_endpoints/{made['id']}"
    for method, path in (
        ("GET", url_path),
        ("POST", f"{url_path}/rotate_secret"),
        ("POST", f"{url_path}/test"),
        ("DELETE", url_path),
    ):
        reply = await api.call(
            method,
            path,
            key=api.admin_key,
            json={"event_type": HOOK["event_types"][0]} if path.endswith("test") else None,
        )
        assert reply.status_code == 403, (method, path)
    assert (await api.call("GET", url_path)).json()["signing_secret_hint"] == (
        made["signing_secret_hint"]
    )


async def test_tools_have_a_maximum(api: Api, body: dict[str, Any]) -> None:
    def of(count: int) -> dict[str, Any]:
        tools = [{"name": f"t{n}", "server_url": "http://127.0.0.1:9"} for n in range(count)]
        inner = {"grader": GRADER, "tools": tools}
        return {**body, "method": {"type": "reinforcement", "reinforcement": inner}}

    reply = await api.call("POST", JOBS, json=of(129))
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, "method.reinforcement.tools")
    assert "128" in error["message"]
    assert (await api.call("POST", JOBS, json=of(128))).status_code == 200
