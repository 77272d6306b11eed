import json
from copy import deepcopy
from typing import Any

import psycopg
import pytest

from app.jobs.results import restored_method
from app.kit.sealing import SecretBox
from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
CANARY = "canary-reference-3e"
TOOL = {
    "name": "lookup", "server_url": f"{ENDPOINT}/lookup", "headers": {"X-Key": CANARY},
    "rate_limit": 7, "description": "Looks up.", "metadata": {"not": "for jobs"},
}  # fmt: skip
GRADER = {"type": "endpoint", "url": f"{ENDPOINT}/grade", "headers": {"X-Grade": CANARY}}
ROWS = [{"messages": [{"role": "user", "content": f"q{n}"}]} for n in range(12)]


async def made(api: Api, noun: str, body: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    reply = await api.call("POST", f"/v1/{noun}", json=body, **kwargs)
    assert reply.status_code == 200, reply.text
    created: dict[str, Any] = reply.json()
    return created


@pytest.fixture
async def tool(api: Api) -> dict[str, Any]:
    return await made(api, "tools", TOOL)


@pytest.fixture
async def grader(api: Api) -> dict[str, Any]:
    return await made(api, "graders", {"name": "quality", "grader": GRADER})


def referring(body: dict[str, Any], *, tools: Any = None, grader: Any = None) -> dict[str, Any]:
    changed = deepcopy(body)
    if tools is not None:
        changed["method"]["reinforcement"]["tools"] = tools
    if grader is not None:
        changed["method"]["reinforcement"]["grader"] = grader
    return changed


def method_of_row(database: Database, job_id: str) -> tuple[str, dict[str, Any]]:
    """Returns a job's row as text, and its method with the headers that a worker would send."""
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        row = connection.execute(
            "SELECT j::text, method, secrets, project_id FROM fine_tuning_jobs j WHERE id = %s",
            (job_id,),
        ).fetchone()
    assert row is not None
    box = SecretBox(database.settings.secret_key.get_secret_value())
    headers = box.open(row[2], project_id=row[3], row_id=job_id)
    return row[0], restored_method(row[1], headers)


async def test_a_job_holds_all_of_what_it_refers_to(
    api: Api, body: dict[str, Any], tool: dict[str, Any], grader: dict[str, Any], database: Database
) -> None:
    inline = {"name": "own", "server_url": ENDPOINT}
    sent = referring(body, tools=[{"id": tool["id"]}, inline], grader={"id": grader["id"]})
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 200, reply.text
    job = reply.json()
    first, second = job["method"]["reinforcement"]["tools"]
    assert first == {
        "id": tool["id"], "version": 1, "name": "lookup", "server_url": f"{ENDPOINT}/lookup",
        "headers": {"X-Key": "[redacted]"}, "rate_limit": 7, "description": "Looks up.",
    }  # fmt: skip
    assert second == {**inline, "headers": None}
    shown = job["method"]["reinforcement"]["grader"]
    assert (shown["id"], shown["version"], shown["url"]) == (grader["id"], 1, GRADER["url"])
    assert shown["headers"] == {"X-Grade": "[redacted]"}
    text, method = method_of_row(database, job["id"])
    assert CANARY not in text
    assert method["reinforcement"]["tools"][0]["headers"] == {"X-Key": CANARY}
    assert method["reinforcement"]["grader"]["headers"] == {"X-Grade": CANARY}


async def test_later_versions_and_deletion_change_no_job(
    api: Api, body: dict[str, Any], tool: dict[str, Any], grader: dict[str, Any], database: Database
) -> None:
    sent = referring(body, tools=[{"id": tool["id"]}], grader={"id": grader["id"]})
    job = (await api.call("POST", JOBS, json=sent)).json()
    before = method_of_row(database, job["id"])[1]
    newer = {"server_url": f"{ENDPOINT}/new", "headers": {"X-Key": "another"}, "rate_limit": 1}
    await api.call("POST", f"/v1/tools/{tool['id']}", json=newer)
    await api.call(
        "POST", f"/v1/graders/{grader['id']}", json={"grader": {**GRADER, "url": ENDPOINT}}
    )
    latest = (await api.call("POST", JOBS, json=sent)).json()
    old = referring(sent, tools=[{"id": tool["id"], "version": 1}])
    pinned = (await api.call("POST", JOBS, json=old)).json()
    for noun, made_before in (("tools", tool), ("graders", grader)):
        assert (await api.call("DELETE", f"/v1/{noun}/{made_before['id']}")).status_code == 200
    assert (await api.call("GET", f"{JOBS}/{job['id']}")).json() == job
    assert method_of_row(database, job["id"])[1] == before
    assert latest["method"]["reinforcement"]["tools"][0]["version"] == 2
    assert latest["method"]["reinforcement"]["tools"][0]["server_url"] == f"{ENDPOINT}/new"
    assert latest["method"]["reinforcement"]["grader"]["url"] == ENDPOINT
    assert pinned["method"]["reinforcement"]["tools"] == job["method"]["reinforcement"]["tools"]
    fresh = method_of_row(database, latest["id"])[1]["reinforcement"]["tools"][0]
    assert fresh["headers"] == {"X-Key": "another"}


@cases("gone", ["unknown", "deleted", "foreign", "of another noun"])
async def test_what_cannot_be_found_names_its_parameter_and_makes_nothing(
    api: Api, body: dict[str, Any], gone: str
) -> None:
    key = api.other_key if gone == "foreign" else api.key
    ids = {
        "tools": (await made(api, "tools", TOOL, key=key))["id"],
        "graders": (await made(api, "graders", {"name": "g", "grader": GRADER}, key=key))["id"],
        "curricula": (await made(api, "curricula", {"name": "c", "training": ROWS}, key=key))["id"],
    }
    if gone == "deleted":
        for noun, object_id in ids.items():
            await api.call("DELETE", f"/v1/{noun}/{object_id}")
    if gone == "unknown":
        ids = dict.fromkeys(ids, "tool_unknown")
    if gone == "of another noun":
        ids = {"tools": ids["graders"], "graders": ids["tools"], "curricula": ids["tools"]}
    own = body["method"]["reinforcement"]["tools"][0]
    data = {k: v for k, v in body.items() if not k.endswith("_file")}
    for sent, param, code in (
        (
            referring(body, tools=[own, {"id": ids["tools"]}]),
            "method.reinforcement.tools[1].id",
            "tool_not_found",
        ),
        (
            referring(body, grader={"id": ids["graders"]}),
            "method.reinforcement.grader.id",
            "grader_not_found",
        ),
        ({**data, "curriculum": ids["curricula"]}, "curriculum", "curriculum_not_found"),
    ):
        reply = await api.call("POST", JOBS, json=sent)
        error = reply.json()["error"]
        assert (reply.status_code, error["param"], error["code"]) == (400, param, code), error
    assert (await api.call("GET", JOBS)).json()["data"] == []


@pytest.mark.parametrize(
    ("change", "param", "code"),
    [
        ({"version": 2}, "version", "tool_not_found"),
        ({"version": 0}, "version", "invalid_value"),
        ({"headers": {"X-Key": "mine"}}, "headers", "invalid_value"),
    ],
)
async def test_a_wrong_reference_names_its_key(
    api: Api,
    body: dict[str, Any],
    tool: dict[str, Any],
    change: dict[str, Any],
    param: str,
    code: str,
) -> None:
    sent = referring(body, tools=[{"id": tool["id"], **change}])
    reply = await api.call("POST", JOBS, json=sent)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (400, code), error
    assert error["param"] == f"method.reinforcement.tools[0].{param}"


async def test_an_inline_tool_may_have_an_id_of_its_own(
    api: Api, body: dict[str, Any], tool: dict[str, Any]
) -> None:
    inline = {"id": tool["id"], "version": 9, "name": "own", "server_url": ENDPOINT}
    job = (await api.call("POST", JOBS, json=referring(body, tools=[inline]))).json()
    assert job["method"]["reinforcement"]["tools"] == [{**inline, "headers": None}]


async def test_a_curriculum_stands_for_the_files(api: Api, body: dict[str, Any]) -> None:
    training = (await api.upload(b'{"messages": []}\n')).json()["id"]
    curriculum = await made(
        api, "curricula", {"name": "c", "training_file": training, "validation": ROWS}
    )
    await api.call("POST", f"/v1/curricula/{curriculum['id']}", json={"training": ROWS})
    data = {k: v for k, v in body.items() if not k.endswith("_file")}
    by_id = await api.call("POST", JOBS, json={**data, "curriculum": curriculum["id"]})
    older = {"id": curriculum["id"], "version": 1}
    pinned = (await api.call("POST", JOBS, json={**data, "curriculum": older})).json()
    assert by_id.status_code == 200, by_id.text
    assert by_id.json()["validation_file"] == curriculum["validation_file"]
    assert by_id.json()["training_file"] != training
    assert pinned["training_file"] == training
    await api.call("DELETE", f"/v1/curricula/{curriculum['id']}")
    assert (await api.call("GET", f"{JOBS}/{pinned['id']}")).json() == pinned


async def test_an_inline_curriculum_becomes_files(api: Api, body: dict[str, Any]) -> None:
    data = {k: v for k, v in body.items() if not k.endswith("_file")}
    inline = {"training": ROWS, "validation": ROWS[:10]}
    job = (await api.call("POST", JOBS, json={**data, "curriculum": inline})).json()
    for split in ("training", "validation"):
        content = (await api.call("GET", f"/v1/files/{job[f'{split}_file']}/content")).content
        assert [json.loads(line) for line in content.splitlines()] == inline[split]


@cases(
    ("curriculum", "param"),
    [
        ({"validation": ROWS}, "curriculum.training"),
        ({"training": ROWS}, "curriculum.validation"),
        ({"training": [1]}, "curriculum.training[0]"),
        ({"training": ROWS, "rows": ROWS}, "curriculum.rows"),
        ({"id": "curr_x", "training": ROWS}, "curriculum.training"),
        (5, "curriculum"),
    ],
)
async def test_a_wrong_curriculum_names_its_part(
    api: Api, body: dict[str, Any], curriculum: Any, param: str
) -> None:
    data = {k: v for k, v in body.items() if not k.endswith("_file")}
    sent = {**data, "curriculum": curriculum}
    reply = await api.call("POST", JOBS, json=sent)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["errors"][0]["param"] == param


async def test_files_of_a_call_that_fails_are_not_left_behind(
    api: Api, body: dict[str, Any]
) -> None:
    before = (await api.call("GET", "/v1/files")).json()["data"]
    data = {k: v for k, v in body.items() if not k.endswith("_file")}
    for wrong in (
        {"model": "gpt-unknown"},
        {"method": {"type": "dpo", "dpo": {"hyperparameters": {"beta": 3}}}},
        {"seed": 5, "method": {"type": "reinforcement"}},
    ):
        inline = {"training": ROWS, "validation": ROWS}
        reply = await api.call("POST", JOBS, json={**data, "curriculum": inline, **wrong})
        assert reply.status_code == 400
    assert (await api.call("GET", "/v1/files")).json()["data"] == before


async def test_curriculum_or_files_but_one_of_them(api: Api, body: dict[str, Any]) -> None:
    both = await api.call("POST", JOBS, json={**body, "curriculum": "curr_x"})
    assert both.json()["error"]["param"] == "curriculum"
    neither = {k: v for k, v in body.items() if k != "training_file"}
    for sent in (neither, {**neither, "curriculum": None}):
        error = (await api.call("POST", JOBS, json=sent)).json()["error"]
        assert error["message"] == "Missing required parameter: 'training_file'."
        assert (error["param"], error["code"]) == ("training_file", "missing_required_parameter")
