"""MCP servers of a create call: refusals with their path, the listing of `validate`, the test."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.job_calls import JOBS, changed
from tests.support.cases import cases
from tests.support.mcp.mcp_server import McpServerUnderTest, mcp_server
from tests.support.stack import Database

TEST = "/v1/fine_tuning/alpha/mcp_servers/test"
AT = "method.reinforcement.mcp_servers"
DOWN = {"server_label": "down", "server_url": f"{ENDPOINT}/mcp"}


@pytest.fixture
def server() -> Iterator[McpServerUnderTest]:
    with mcp_server() as serving:
        yield serving


@pytest.fixture
async def api(database: Database, server: McpServerUnderTest) -> AsyncIterator[Api]:
    async with running(database, "127.0.0.1:9", server.host_port) as api:
        yield api


def entry(server: McpServerUnderTest, **more: Any) -> dict[str, Any]:
    return {"server_label": "records", "server_url": server.url, **more}


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"require_approval": "always"}, "[0].require_approval", "invalid_value",
     "it must be 'never': no one is asked during a rollout"),
    ({"allowed_tools": []}, "[0].allowed_tools", "invalid_value", "at least 1 entry"),
    ({"allowed_tools": {"names": ["a"]}}, "[0].allowed_tools.names", "unknown_parameter",
     "Remove it"),
    ({"allowed_tools": ["a", 5]}, "[0].allowed_tools[1]", "invalid_value", "a text"),
    ({"server_url": "http://10.0.0.1/mcp"}, "[0].server_url", "endpoint_not_allowed",
     "10.0.0.1:80 is a private address"),
    ({"headers": {"Mcp-Session-Id": "1"}}, "[0].headers", "invalid_value",
     "'mcp-session-id' is set by the service"),
    ({"headers": {"authorization": "a"}, "authorization": "b"}, "[0].authorization",
     "invalid_value", "'headers' has an Authorization already"),
    ({"authorization": "Bearer a"}, "[0].authorization", "invalid_value", "the token alone"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "suffix", "code", "words"), REFUSED)
async def test_a_faulty_entry_is_refused_with_its_path(
    api: Api,
    body: dict[str, Any],
    server: McpServerUnderTest,
    *,
    change: dict[str, Any],
    suffix: str,
    code: str,
    words: str,
) -> None:
    sent = changed(body, ("mcp_servers",), [{**entry(server), **change}])
    reply = await api.call("POST", JOBS, json=sent)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (400, AT + suffix, code), error
    assert words in error["message"]


async def test_a_job_keeps_the_entry_as_it_was_sent(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    sent = entry(server, allowed_tools={"tool_names": ["count"]}, require_approval="never",
                 rate_limit=5)  # fmt: skip
    reply = await api.call("POST", JOBS, json=changed(body, ("mcp_servers",), [sent]))
    assert reply.status_code == 200, reply.text
    (echoed,) = reply.json()["method"]["reinforcement"]["mcp_servers"]
    kept = {**echoed, "allowed_tools": {"tool_names": ["count"]}}
    assert {key: kept[key] for key in sent} == sent
    assert not server.heard, "a create call lists nothing"


async def validated(api: Api, body: dict[str, Any], *servers: dict[str, Any]) -> dict[str, Any]:
    sent = changed(body, ("mcp_servers",), list(servers))
    report: dict[str, Any] = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    return report


async def test_validate_lists_the_servers_and_measures_their_schemas(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    plain = await validated(api, body)
    report = await validated(api, body, entry(server, allowed_tools=["count"]))
    assert [fault["param"] for fault in report["errors"]] == [
        fault["param"] for fault in plain["errors"]
    ]
    (check,) = [each for each in report["endpoints"] if each["param"].startswith(AT)]
    assert (check["name"], check["reachable"], check["detail"]) == ("records", True, None)
    assert [heard.called for heard in server.heard] == ["server/discover", "tools/list"]
    shown = [each["training_file"]["tokens"]["max"] for each in (plain, report)]
    assert shown[1] > shown[0] + 20, "the prompts have a tool more"
    twice = [entry(server, allowed_tools=["count"], server_label=label) for label in "ab"]
    clashing = await validated(api, body, *twice)
    assert clashing["training_file"]["tokens"]["max"] == shown[0], "no job offers these"


async def test_validate_names_everything_that_is_wrong_with_the_servers(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    body["method"]["reinforcement"]["tools"].append(
        {"name": "count", "server_url": f"{ENDPOINT}/count"}
    )
    report = await validated(
        api,
        body,
        DOWN,
        entry(server, server_label="a", allowed_tools=["lookup", "lokup"]),
        entry(server, server_label="b"),
        entry(server, server_label="c", allowed_tools=["large"]),
    )
    found = [
        (fault["code"], fault["param"].removeprefix(AT))
        for fault in report["errors"]
        if str(fault["param"]).startswith(AT)
    ]
    assert found == [
        ("mcp_server_unavailable", "[0].server_url"),
        ("unknown_tool", "[1].allowed_tools"),
        ("duplicate_tool", "[2].allowed_tools"),
        ("duplicate_tool", "[3].allowed_tools"),
    ]
    messages = [fault["message"] for fault in report["errors"] if fault["code"] == "duplicate_tool"]
    assert messages[0].startswith(
        "The tool 'count' of the MCP server 'b' has the name of a tool of "
        "method.reinforcement.tools: a model could not distinguish them."
    )
    assert "a tool of the MCP server 'b'" in messages[1]
    down = next(each for each in report["endpoints"] if each["name"] == "down")
    assert down["reachable"] is False
    assert "could not be listed: connection refused" in down["detail"]


async def test_rows_may_offer_no_tool_that_only_a_server_has(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    del body["method"]["reinforcement"]["tools"]
    row = (
        b'{"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", '
        b'"function": {"name": "lookup"}}]}\n'
    )
    body["training_file"] = (await api.upload(row * 12)).json()["id"]
    report = await validated(api, body, entry(server))
    lines = [fault for fault in report["errors"] if fault["param"] == "training_file"]
    assert "tool 'lookup' has no server_url" in lines[0]["message"]


async def report_on(api: Api, **sent: Any) -> dict[str, Any]:
    reply = await api.call("POST", TEST, json=sent)
    assert reply.status_code == 200, reply.text
    report: dict[str, Any] = reply.json()
    return report


async def test_a_server_is_tested_with_a_call_of_the_named_tool(
    api: Api, server: McpServerUnderTest
) -> None:
    sent = entry(server, authorization="t0ken", allowed_tools=["lookup", "count"])
    report = await report_on(api, server=sent, tool="lookup", arguments={"q": "gold"})
    assert report["passed"] is True
    assert [tool["name"] for tool in report["tools"]] == ["lookup", "count"]
    assert report["protocol_version"] == "2026-07-28"
    statuses = {check["name"]: check["status"] for check in report["checks"]}
    assert statuses == dict.fromkeys(("listing", "tools", "session", "call"), "passed")
    assert report["checks"][-1]["model_sees"] == "blue"
    ids = [heard.headers["idempotency-key"] for heard in server.calls("lookup")]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    made_up = await report_on(api, server=sent, tool="count")
    assert made_up["checks"][-1]["status"] == "passed"
    assert server.calls("count")[0].message["params"]["arguments"] == {"q": "test"}
    assert "t0ken" not in str(report)


async def test_a_test_shows_no_credential_that_the_server_repeats(
    api: Api, server: McpServerUnderTest
) -> None:
    token = "canary-mcp-token-7"
    server.records["key"] = f"Bearer {token} and {token}"
    sent = entry(server, authorization=token)
    report = await report_on(api, server=sent, tool="lookup", arguments={"q": "key"})
    assert report["checks"][-1]["model_sees"] == "[redacted] and [redacted]"


async def test_a_test_names_what_would_cost_rollouts(api: Api, server: McpServerUnderTest) -> None:
    down = await report_on(api, server=DOWN)
    assert down["passed"] is False
    assert [check["status"] for check in down["checks"]] == ["failed", *["skipped"] * 3]
    server.handshake_only = True
    report = await report_on(api, server=entry(server, allowed_tools=["lokup"]), tool="lookup")
    checks = {check["name"]: (check["status"], check["detail"]) for check in report["checks"]}
    assert checks["tools"][0] == checks["call"][0] == "failed"
    assert "has no tool 'lokup'" in checks["tools"][1]
    assert checks["session"][0] == "warned"
    server.statuses[:] = [500]
    failing = await report_on(api, server=entry(server), tool="lookup")
    assert failing["checks"][-1]["detail"] == (
        "No usable answer: answered 500. In training this discards the rollout."
    )
    unnamed = await report_on(api, server=entry(server))
    assert unnamed["checks"][-1]["status"] == "skipped"


@cases(
    ("sent", "param"),
    [
        ({"server": {"server_label": "a"}}, "server.server_url"),
        ({"server": {**DOWN, "server_url": "http://10.0.0.1/"}}, "server.server_url"),
        ({"server": {**DOWN, "alowed_tools": ["a"]}}, "server.alowed_tools"),
        ({"server": DOWN, "arguments": {"q": "gold"}}, "arguments"),
    ],
)
async def test_a_faulty_test_is_refused_with_its_path(
    api: Api, sent: dict[str, Any], param: str
) -> None:
    reply = await api.call("POST", TEST, json=sent)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
