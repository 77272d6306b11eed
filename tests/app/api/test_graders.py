from typing import Any

import psycopg

from tests.support.api.application import ENDPOINT, Api, running
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.stack import Database

GRADERS = "/v1/graders"
CANARY = "canary-grader-91c"
CHECK = {
    "type": "string_check", "name": "same", "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}", "operation": "eq",
}  # fmt: skip
REMOTE = {"type": "endpoint", "name": "remote", "url": ENDPOINT, "headers": {"X-Key": CANARY}}
MULTI = {
    "type": "multi", "name": "both", "graders": {"same": CHECK, "remote": REMOTE},
    "calculate_output": "0.5 * same + 0.5 * remote",
}  # fmt: skip


async def made(api: Api, name: str = "quality", grader: Any = CHECK) -> dict[str, Any]:
    reply = await api.call("POST", GRADERS, json={"name": name, "grader": grader})
    assert reply.status_code == 200, reply.text
    created: dict[str, Any] = reply.json()
    return created


async def test_a_grader_is_usable_from_creation_to_deletion(api: Api) -> None:
    grader = await made(api)
    assert grader["id"].startswith("grader_")
    assert (grader["object"], grader["version"], grader["name"]) == ("grader", 1, "quality")
    assert grader["grader"].items() >= CHECK.items()
    path = f"{GRADERS}/{grader['id']}"
    second = (await api.call("POST", path, json={"grader": {**CHECK, "operation": "like"}})).json()
    assert (second["version"], second["grader"]["operation"]) == (2, "like")
    named = (await api.call("POST", path, json={"name": "new", "metadata": {"a": "b"}})).json()
    assert (named["version"], named["name"], named["metadata"]) == (3, "new", {"a": "b"})
    assert named["grader"] == second["grader"]
    assert (await api.call("GET", path, params={"version": 1})).json() == grader
    versions = (await api.call("GET", f"{path}/versions")).json()["data"]
    assert versions == [named, second, grader]
    assert (await api.call("GET", GRADERS)).json()["data"] == [named]
    deleted = (await api.call("DELETE", path)).json()
    assert deleted == {"id": grader["id"], "object": "grader", "deleted": True}
    assert (await api.call("GET", path)).json()["error"]["code"] == "grader_not_found"
    assert (await made(api, "new"))["version"] == 1


async def test_headers_of_children_are_sealed(api: Api, database: Database) -> None:
    grader = await made(api, grader=MULTI)
    path = f"{GRADERS}/{grader['id']}"
    replies = [
        await api.call("GET", path),
        await api.call("GET", f"{path}/versions"),
        await api.call("POST", path, json={"grader": grader["grader"]}),
        await api.call("GET", GRADERS),
    ]
    assert all(reply.status_code == 200 and CANARY not in reply.text for reply in replies)
    assert replies[2].json()["grader"]["graders"]["remote"]["headers"] == {"X-Key": "[redacted]"}
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        rows = connection.execute("SELECT v::text, secrets FROM registered_versions v").fetchall()
    assert len(rows) == 2
    assert all(CANARY not in text and CANARY.encode() not in sealed for text, sealed in rows)
    moved = {**grader["grader"]["graders"]["remote"], "url": f"{ENDPOINT}/mine"}
    stolen = {**MULTI, "graders": {"same": CHECK, "remote": moved}}
    reply = await api.call("POST", path, json={"grader": stolen})
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == "grader.graders.remote.headers"


@cases(
    ("body", "param", "code"),
    [
        ({"grader": CHECK}, "name", "missing_required_parameter"),
        ({"name": "a", "grader": {**CHECK, "operation": "x"}}, "grader.operation", None),
        ({"name": "a", "grader": {"type": "python", "source": "x"}}, "grader.source", None),
        (
            {
                "name": "a",
                "grader": {**MULTI, "graders": {"same": CHECK, "remote": {**REMOTE, "url": "x"}}},
            },
            "grader.graders.remote.url",
            "endpoint_not_allowed",
        ),
        (
            {"name": "a", "grader": {**REMOTE, "headers": {"X-Attempt": "1"}}},
            "grader.headers",
            "endpoint_not_allowed",
        ),
    ],
)
async def test_a_wrong_grader_names_its_parameter_and_makes_nothing(
    api: Api, body: dict[str, Any], param: str, code: str | None
) -> None:
    reply = await api.call("POST", GRADERS, json=body)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, param), error
    assert code is None or error["code"] == code
    assert (await api.call("GET", GRADERS)).json()["data"] == []


async def test_keys_of_the_service_are_ignored_and_other_tenants_find_nothing(api: Api) -> None:
    forged = {"id": "grader_mine", "version": 9, "project_id": "proj_x", "created_at": 1}
    body = {"name": "g", "grader": CHECK, **forged}
    grader = (await api.call("POST", GRADERS, json=body)).json()
    assert (grader["version"], grader["id"] != "grader_mine", grader["created_at"] > 1) == (
        1, True, True,
    )  # fmt: skip
    path = f"{GRADERS}/{grader['id']}"
    for method, tail, sent in (
        ("GET", "", None), ("GET", "/versions", None), ("POST", "", {}), ("DELETE", "", None),
        ("POST", "/test", {"model_sample": "x"}),
    ):  # fmt: skip
        reply = await api.call(method, path + tail, key=api.other_key, json=sent)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "grader_not_found")


async def test_a_test_scores_as_graders_run_does(api: Api) -> None:
    path = f"{GRADERS}/{(await made(api))['id']}/test"
    sample = {"model_sample": "Ulm", "item": {"answer": "Ulm"}}
    right = (await api.call("POST", path, json=sample)).json()
    wrong = (await api.call("POST", path, json={**sample, "model_sample": "Bonn"})).json()
    assert (right["reward"], wrong["reward"]) == (1.0, 0.0)
    body = {**sample, "grader": CHECK}
    run = (await api.call("POST", "/v1/fine_tuning/alpha/graders/run", json=body)).json()
    for reply in (right, run):
        del reply["metadata"]["execution_time"]
    assert right == run
    missing = await api.call("POST", path, json={})
    assert missing.json()["error"]["param"] == "model_sample"


async def test_a_test_sends_the_real_headers_of_a_child(database: Database) -> None:
    def grade(received: ReceivedRequest) -> Reply:
        return Reply(json={"score": 1.0 if received.headers.get("x-key") == CANARY else 0.25})

    async with endpoint(grade) as server, running(database, server.host_port) as api:
        remote = {**REMOTE, "url": server.url()}
        grader = await made(api, grader={**MULTI, "graders": {"same": CHECK, "remote": remote}})
        reply = await api.call(
            "POST",
            f"{GRADERS}/{grader['id']}/test",
            json={"model_sample": "a", "item": {"answer": "b"}, "trace_id": "trace_1"},
        )
    assert reply.json()["reward"] == 0.5
    assert reply.json()["sub_rewards"] == {"same": 0.0, "remote": 1.0}
    assert [received.json["trace_id"] for received in server.received] == ["trace_1"]
    assert CANARY not in reply.text


async def test_a_secret_follows_no_other_key_of_the_client_to_another_address(
    database: Database,
) -> None:
    async with (
        endpoint(lambda _: Reply(json={"score": 1.0})) as server,
        running(database, "127.0.0.1:9", server.host_port) as api,
    ):
        grader = await made(api, grader=REMOTE)
        moved = {**grader["grader"], "url": server.url(), "server_url": ENDPOINT}
        reply = await api.call("POST", f"{GRADERS}/{grader['id']}", json={"grader": moved})
        assert reply.status_code == 400, reply.text
        assert reply.json()["error"]["param"] == "grader.headers"


async def test_graders_behind_one_address_keep_their_own_headers(database: Database) -> None:
    def script(received: ReceivedRequest) -> Reply:
        return Reply(json={"score": float(received.headers["x-key"])})

    async with endpoint(script) as server, running(database, server.host_port) as api:
        first = {"type": "endpoint", "url": server.url(), "headers": {"X-Key": "1"}}
        ten = {**first, "headers": {"X-Key": "10"}}
        both = {"type": "multi", "graders": {"a": first, "b": ten}, "calculate_output": "a - b"}
        grader = await made(api, grader=both)
        path = f"{GRADERS}/{grader['id']}"
        for change in ({"name": "renamed"}, {"grader": grader["grader"]}):
            assert (await api.call("POST", path, json=change)).status_code == 200
            run = (await api.call("POST", f"{path}/test", json={"model_sample": "x"})).json()
            assert run["reward"] == -9.0
        child = grader["grader"]["graders"]["a"]
        moved = {"type": "multi", "graders": {"c": child}, "calculate_output": "c"}
        reply = await api.call("POST", path, json={"grader": moved})
        assert reply.json()["error"]["param"] == "grader.graders.c.headers"


async def test_an_endless_definition_is_refused(api: Api) -> None:
    long = {**CHECK, "reference": "x" * 262_144}
    reply = await api.call("POST", GRADERS, json={"name": "long", "grader": long})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "grader")
    tool = {"name": "t", "server_url": ENDPOINT, "description": "x" * 262_144}
    assert (await api.call("POST", "/v1/tools", json=tool)).status_code == 400
    grader = await made(api)
    reply = await api.call("POST", f"{GRADERS}/{grader['id']}", json={"grader": long})
    assert reply.status_code == 400
