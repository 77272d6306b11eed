"""Secrets in places that no model foresees: they are sealed, or the call is refused."""

from typing import Any

import pytest

from tests.support.api.application import ENDPOINT, Api
from tests.support.api.canary import CANARY, HEADERS, format_with, stored
from tests.support.api.job_calls import JOBS, changed
from tests.support.stack import Database

REDACTED = "[redacted]"
MULTI = {
    "type": "multi",
    "graders": {"x": {"type": "endpoint", "url": ENDPOINT}},
    "calculate_output": "x",
}
MCP = {"server_label": "m", "server_url": ENDPOINT}
ECHOED = {
    **MCP,
    "type": "mcp",
    "headers": None,
    "authorization": None,
    "allowed_tools": None,
    "require_approval": None,
}
SEALED: list[tuple[tuple[str | int, ...], Any, Any]] = [
    (("tools", 0, "server_url"), f"{ENDPOINT}?api_key={CANARY}", f"{ENDPOINT}?api_key={REDACTED}"),
    (("grader", "headers"), HEADERS, {"Authorization": REDACTED}),
    (("mcp_servers",), [{**MCP, "authorization": CANARY}], [{**ECHOED, "authorization": REDACTED}]),
]  # fmt: skip
REFUSED: list[tuple[tuple[str | int, ...], Any, str, str]] = [
    (
        ("mcp_servers",),
        [{**MCP, "Headers": HEADERS}],
        "mcp_servers[0].Headers",
        "unknown_parameter",
    ),
    (
        ("environment",),
        {"type": "gsm8k", "headers": HEADERS},
        "environment.headers",
        "unknown_parameter",
    ),
    (("tools", 0, "auth"), {"headers": HEADERS}, "tools[0].auth", "not_available"),
    (("grader", "rubric"), CANARY, "grader.rubric", "not_available"),
    (
        ("grader",),
        {**MULTI, "graders": {"x": {**MULTI["graders"]["x"], "extra": {"headers": HEADERS}}}},  # type: ignore[index]  # a map
        "grader.graders.x.extra",
        "unknown_parameter",
    ),
    (("hyperparameters", "headers"), HEADERS, "hyperparameters.headers", "unknown_parameter"),
    (("grader", "headers"), [HEADERS], "grader.headers", "invalid_value"),
    (("grader", "api_key"), CANARY, "grader.api_key", "invalid_value"),
]


DROPPED: list[tuple[str | int, ...]] = [
    ("tools", 0, "api_key"),
    ("grader", "Api_Key"),
    ("x_key",),
]
"""Unknown keys that may hold a text."""


@pytest.mark.parametrize(("path", "value", "shown"), SEALED)
async def test_a_secret_at_an_accepted_path_is_sealed(
    api: Api,
    body: dict[str, Any],
    database: Database,
    capfd: pytest.CaptureFixture[str],
    *,
    path: tuple[str | int, ...],
    value: Any,
    shown: Any,
) -> None:
    reply = await api.call("POST", JOBS, json=changed(body, path, value))
    assert reply.status_code == 200, reply.text
    echoed = reply.json()["method"]["reinforcement"]
    for part in path:
        echoed = echoed[part]
    assert echoed == shown
    await assert_hidden(api, reply.json()["id"], reply.text + stored(database), capfd)


async def assert_hidden(
    api: Api, job_id: str, seen: str, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [seen, "".join(capfd.readouterr())]
    urls = (f"{JOBS}/{job_id}", f"{JOBS}/{job_id}/events", JOBS, "/v1/evals")
    texts += [(await api.call("GET", url)).text for url in urls]
    assert [text for text in texts if CANARY in text] == []


@pytest.mark.parametrize("path", DROPPED)
async def test_a_text_under_an_unknown_key_is_dropped_with_a_warning(
    api: Api,
    body: dict[str, Any],
    database: Database,
    capfd: pytest.CaptureFixture[str],
    *,
    path: tuple[str | int, ...],
) -> None:
    sent = changed(body, path, CANARY)
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert any(str(path[-1]) in warning["param"] for warning in report["warnings"])
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 200, reply.text
    holder = reply.json()["method"]["reinforcement"]
    for part in path[:-1]:
        holder = holder[part]
    assert path[-1] not in holder
    await assert_hidden(api, reply.json()["id"], reply.text + stored(database), capfd)


@pytest.mark.parametrize(("path", "value", "param", "code"), REFUSED)
async def test_an_unknown_key_is_refused_with_its_path(
    api: Api,
    body: dict[str, Any],
    database: Database,
    *,
    path: tuple[str | int, ...],
    value: Any,
    param: str,
    code: str,
) -> None:
    sent = changed(body, path, value)
    reply = await api.call("POST", JOBS, json=sent)
    error = reply.json()["error"]
    reported = (reply.status_code, error["param"], error["code"])
    assert reported == (400, f"method.reinforcement.{param}", code), error
    report = await api.call("POST", f"{JOBS}/validate", json=sent)
    assert f"method.reinforcement.{param}" in [issue["param"] for issue in report.json()["errors"]]
    assert CANARY not in reply.text + report.text + stored(database)


async def test_keys_outside_the_methods_own_object_are_not_stored(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    body["method"]["token"] = CANARY
    reply = await api.call("POST", JOBS, json=body)
    assert reply.status_code == 200, reply.text
    body["method"]["supervised"] = {"headers": HEADERS}
    beside = await api.call("POST", JOBS, json=body)
    assert beside.status_code == 400
    assert beside.json()["error"]["param"] == "method.supervised"
    assert CANARY not in reply.text + beside.text + stored(database)


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/tools", {"name": "t", "server_url": ENDPOINT, "Headers": HEADERS}),
        ("/v1/fine_tuning/alpha/graders/validate", {"grader": {**MULTI, "rubric": [CANARY]}}),
        (
            "/v1/evals",
            {
                "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
                "testing_criteria": [{"type": "endpoint", "url": ENDPOINT, "auth": {"a": CANARY}}],
            },
        ),
    ],
)
async def test_other_routes_refuse_the_same(
    api: Api, database: Database, path: str, sent: dict[str, Any]
) -> None:
    reply = await api.call("POST", path, json=sent)
    assert (reply.status_code, reply.json()["error"]["code"] in CODES) == (400, True), reply.text
    assert CANARY not in reply.text + stored(database)


CODES = ("not_available", "unknown_parameter")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("tools", 0, "headers"), {"X-Key": "Bearer [redacted]"}),
        (("tools", 0, "server_url"), f"{ENDPOINT}?key={REDACTED}&b=1"),
    ],
)
async def test_validate_and_create_refuse_a_placeholder_alike(
    api: Api, body: dict[str, Any], path: tuple[str | int, ...], value: Any
) -> None:
    sent = changed(body, path, value)
    param = f"method.reinforcement.tools[0].{path[-1]}"
    error = (await api.call("POST", JOBS, json=sent)).json()["error"]
    assert (error["param"], error["code"]) == (param, "invalid_value")
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["valid"] is False
    assert (param, "invalid_value") in [
        (issue["param"], issue["code"]) for issue in report["errors"]
    ]


async def test_free_form_json_is_stored_as_sent(api: Api) -> None:
    schema = format_with("s")["json_schema"]["schema"]
    sent = {"name": "t", "server_url": ENDPOINT, "parameters": schema}
    assert (await api.call("POST", "/v1/tools", json=sent)).json()["parameters"] == schema
    sent = {
        "data_source_config": {"type": "custom", "item_schema": schema},
        "testing_criteria": [{"type": "endpoint", "url": ENDPOINT}],
    }
    reply = await api.call("POST", "/v1/evals", json=sent)
    assert reply.json()["data_source_config"]["schema"]["properties"]["item"] == schema


ECHO = {"type": "endpoint", "url": ENDPOINT}
SCHEMA_CONFIG = {"type": "custom", "item_schema": {"type": "object"}}
ALPHA = "/v1/fine_tuning/alpha"


async def test_a_placeholder_is_never_sent_anywhere(api: Api) -> None:
    headers = {"X-Api-Key": f"Bearer {REDACTED}"}
    grader = {**ECHO, "headers": headers}
    tool = {"name": "t", "server_url": ENDPOINT, "headers": headers}
    trial = {**tool, "arguments": "{}"}
    for path, content, param in (
        ("/v1/evals", {"data_source_config": SCHEMA_CONFIG, "testing_criteria": [grader]},
         "testing_criteria[0].headers"),
        (f"{ALPHA}/graders/run", {"grader": grader, "model_sample": "x"}, "grader.headers"),
        (f"{ALPHA}/tool/run", trial, "headers"),
        ("/v1/graders", {"name": "g", "grader": grader}, "grader.headers"),
        ("/v1/tools", tool, "headers"),
    ):  # fmt: skip
        reply = await api.call("POST", path, json=content)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
