"""Errors about keys name what the client sent and the way out, alike in `create` and `validate`."""

from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.api.job_calls import JOBS, changed
from tests.support.cases import cases

ROOT = "method.reinforcement"


async def both(api: Api, sent: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The error of a create call and the report on it."""
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 400, reply.text
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["valid"] is False
    error: dict[str, Any] = reply.json()["error"]
    return error, report


NOVEL = {"type": "novel", "name": "p", "source": "def grade(): ...", "image_tag": "2025-05-08"}


@cases("child", [False, True])
async def test_a_refused_type_is_the_only_fault_of_its_grader(
    api: Api, body: dict[str, Any], *, child: bool
) -> None:
    multi = {"type": "multi", "graders": {"x": NOVEL}, "calculate_output": "x"}
    error, report = await both(api, changed(body, ("grader",), multi if child else NOVEL))
    param = f"{ROOT}.grader.graders.x.type" if child else f"{ROOT}.grader.type"
    assert error["param"] == param
    found = [(issue["param"], issue["code"]) for issue in (*report["errors"], *report["warnings"])]
    assert param in [name for name, _ in found]
    assert [issue for issue in found if issue[1] == "unknown_parameter"] == []


async def test_a_deprecated_hyperparameter_is_named_where_it_was_sent(
    api: Api, body: dict[str, Any]
) -> None:
    sent = {
        "model": body["model"],
        "training_file": body["training_file"],
        "hyperparameters": {"n_epochs": 2, "later": {"a": 1}},
    }
    error, report = await both(api, sent)
    assert (error["param"], error["code"]) == ("hyperparameters.later", "unknown_parameter")
    named = [e["param"] for e in report["errors"] if "hyperparameters" in (e["param"] or "")]
    assert named == ["hyperparameters.later"]


SCHEMA = {"type": "object", "properties": {"token": {"type": "string", "enum": ["alpha", "beta"]}}}


async def test_a_tool_that_moves_keeps_its_schema_and_loses_its_headers(api: Api) -> None:
    sent = {"name": "t", "server_url": ENDPOINT, "parameters": SCHEMA, "headers": {"X-A": ""}}
    tool = (await api.call("POST", "/v1/tools", json=sent)).json()
    assert tool["headers"] == {"X-A": ""}
    path = f"/v1/tools/{tool['id']}"
    moved = await api.call("POST", path, json={"server_url": f"{ENDPOINT}/2"})
    assert moved.status_code == 200, moved.text
    for change in ({"headers": {"X-A": "s"}}, {"description": "d"}):
        assert (await api.call("POST", path, json=change)).status_code == 200
    error = (await api.call("POST", path, json={"server_url": ENDPOINT})).json()["error"]
    assert error["param"] == "headers"
    assert error["message"].startswith("The header 'X-A' reads '[redacted]'")
