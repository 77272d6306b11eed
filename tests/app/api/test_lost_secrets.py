"""Registered tools and graders whose sealed values cannot be read any more: named, never 500."""

from typing import Any

import psycopg
import pytest

from app.kit.sealing import SecretBox, build_secret_box
from tests.support.api.application import Api, running
from tests.support.endpoints import EndpointServer, Reply, endpoint
from tests.support.stack import Database

HEADERS = {"X-Key": "canary-header-value"}
LOSSES = ("null", "damaged", "another_row", "no_pointer")


def lose(database: Database, how: str) -> None:
    """Edits every stored version as an operator's mistake would."""
    box = build_secret_box(database.settings)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        query = "SELECT project_id, object_id, version, secrets FROM registered_versions"
        for project, row, version, sealed in connection.execute(query).fetchall():
            connection.execute(
                "UPDATE registered_versions SET secrets = %s WHERE object_id = %s AND version = %s",
                (_lost(how, box, project, f"{row}/versions/{version}", sealed), row, version),
            )


def _lost(how: str, box: SecretBox, project: str, row: str, sealed: bytes) -> bytes | None:
    other = SecretBox("f" * 40)
    lost: dict[str, bytes | None] = {
        "null": None,
        "damaged": sealed[:-1] + bytes([sealed[-1] ^ 1]),
        "another_key": other.seal({"/headers/X-Key": "v"}, project_id=project, row_id=row),
        "another_row": box.seal({"/headers/X-Key": "v"}, project_id=project, row_id="other"),
        "no_pointer": box.seal({"/headers/X-Other": "v"}, project_id=project, row_id=row),
    }
    return lost[how]


async def made(api: Api, server: EndpointServer) -> tuple[dict[str, Any], dict[str, Any]]:
    tool = {"name": "search", "server_url": server.url("/tool"), "headers": HEADERS}
    grader = {"type": "endpoint", "name": "g", "url": server.url("/grade"), "headers": HEADERS}
    first = await api.call("POST", "/v1/tools", json=tool)
    second = await api.call("POST", "/v1/graders", json={"name": "g", "grader": grader})
    assert (first.status_code, second.status_code) == (200, 200), (first.text, second.text)
    return first.json(), second.json()


async def refusal(api: Api, path: str, **content: Any) -> tuple[int, str, str]:
    reply = await api.call("POST", path, json=content)
    assert "canary" not in reply.text
    error = reply.json()["error"]
    return reply.status_code, error["code"], error["param"]


@pytest.mark.parametrize("how", LOSSES)
async def test_lost_secrets_are_named_and_an_update_heals(database: Database, how: str) -> None:
    async with (
        endpoint(lambda _: Reply(json={"score": 1.0, "output": "x"})) as server,
        running(database, server.host_port) as api,
    ):
        tool, grader = await made(api, server)
        lose(database, how)
        tool_path, grader_path = f"/v1/tools/{tool['id']}", f"/v1/graders/{grader['id']}"
        lost = (400, "invalid_state", "id")
        assert await refusal(api, f"{tool_path}/test", requests=1) == lost
        assert await refusal(api, f"{grader_path}/test", model_sample="x") == lost
        assert await refusal(api, grader_path, name="h") == lost
        unknown = (400, "invalid_value")
        assert await refusal(api, tool_path, description="d") == (*unknown, "headers")
        assert await refusal(api, grader_path, grader=grader["grader"]) == (
            *unknown,
            "grader.headers",
        )
        assert server.received == []

        healed = await api.call("POST", tool_path, json={"headers": HEADERS})
        assert (healed.status_code, healed.json()["version"]) == (200, 2), healed.text
        whole = {**grader["grader"], "headers": HEADERS}
        healed = await api.call("POST", grader_path, json={"grader": whole})
        assert (healed.status_code, healed.json()["version"]) == (200, 2), healed.text
        tested = await api.call("POST", f"{grader_path}/test", json={"model_sample": "x"})
        assert tested.status_code == 200, tested.text
        tested = await api.call("POST", f"{tool_path}/test", json={"requests": 1})
        assert tested.status_code == 200, tested.text
        assert {call.headers["x-key"] for call in server.received} == {HEADERS["X-Key"]}


@pytest.mark.parametrize("noun", ["tools[0]", "grader"])
async def test_a_job_by_reference_and_its_validation_name_the_reference(
    api: Api, database: Database, body: dict[str, Any], noun: str
) -> None:
    inner = body["method"]["reinforcement"]
    definition = {**inner["grader"], "headers": HEADERS}
    if noun == "grader":
        sent = {"name": "g", "grader": definition}
        inner["grader"] = {"id": (await api.call("POST", "/v1/graders", json=sent)).json()["id"]}
    else:
        tool = (await api.call("POST", "/v1/tools", json=inner["tools"][0])).json()
        inner["tools"] = [{"id": tool["id"]}]
    lose(database, "another_key")
    param = f"method.reinforcement.{noun}.id"
    assert await refusal(api, "/v1/fine_tuning/jobs", **body) == (400, "invalid_state", param)
    report = await api.call("POST", "/v1/fine_tuning/jobs/validate", json=body)
    assert report.status_code == 200, report.text
    assert ("invalid_state", param) in [(e["code"], e["param"]) for e in report.json()["errors"]]


async def test_a_lost_address_is_sent_anew(database: Database) -> None:
    async with (
        endpoint(lambda _: Reply(json={"output": "x"})) as server,
        running(database, server.host_port) as api,
    ):
        address = server.url("/tool?token=canary")
        tool = (
            await api.call("POST", "/v1/tools", json={"name": "search", "server_url": address})
        ).json()
        path = f"/v1/tools/{tool['id']}"
        lose(database, "null")
        assert await refusal(api, f"{path}/test", requests=1) == (400, "invalid_state", "id")
        assert (await refusal(api, path, description="d"))[::2] == (400, "server_url")
        assert server.received == []
        healed = await api.call("POST", path, json={"server_url": address})
        assert healed.status_code == 200, healed.text
