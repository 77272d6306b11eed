"""Tools of an MCP server that are registered, and jobs that name them by id."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest

from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.job_calls import JOBS, changed
from tests.support.cases import cases
from tests.support.mcp.mcp_server import McpServerUnderTest, mcp_server
from tests.support.stack import Database

IMPORT = "/v1/fine_tuning/alpha/mcp_servers/import"
CANARY = "canary-import-4f"
AT = "method.reinforcement.mcp_servers"


@pytest.fixture
def server() -> Iterator[McpServerUnderTest]:
    with mcp_server() as serving:
        yield serving


@pytest.fixture
async def api(database: Database, server: McpServerUnderTest) -> AsyncIterator[Api]:
    async with running(database, "127.0.0.1:9", server.host_port) as api:
        yield api


def entry(server: McpServerUnderTest, **more: Any) -> dict[str, Any]:
    return {"server_label": "records", "server_url": server.url, "authorization": CANARY, **more}


async def imported(api: Api, server: McpServerUnderTest, *names: str) -> list[dict[str, Any]]:
    sent = {"server": entry(server, allowed_tools=list(names), rate_limit=9)}
    reply = await api.call("POST", IMPORT, json=sent)
    assert reply.status_code == 200, reply.text
    assert CANARY not in reply.text
    made: list[dict[str, Any]] = reply.json()["data"]
    return made


async def test_each_listed_tool_is_registered(api: Api, server: McpServerUnderTest) -> None:
    lookup, count = await imported(api, server, "lookup", "count")
    assert (lookup["name"], lookup["server_label"]) == ("lookup", "records")
    assert (lookup["server_url"], lookup["rate_limit"]) == (server.url, 9)
    assert lookup["headers"] == {"Authorization": "[redacted]"}
    assert lookup["description"] == "Returns the record of a name."
    assert lookup["parameters"]["required"] == ["q"]
    listed = (await api.call("GET", "/v1/tools")).json()["data"]
    assert {tool["id"] for tool in listed} == {lookup["id"], count["id"]}
    assert not server.calls(), "an import calls no tool"


async def test_a_job_calls_registered_tools_through_their_server(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    lookup, count = await imported(api, server, "lookup", "count")
    own = {"name": "own", "server_url": ENDPOINT}
    sent = changed(body, ("tools",), [{"id": lookup["id"]}, own, {"id": count["id"]}])
    server.heard.clear()
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert {heard.headers["authorization"] for heard in server.heard} == {f"Bearer {CANARY}"}
    checks = {check["name"]: check["reachable"] for check in report["endpoints"]}
    assert checks["records"] is True
    assert "own" in checks
    assert "lookup" not in checks

    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 200, reply.text
    assert CANARY not in reply.text
    method = reply.json()["method"]["reinforcement"]
    assert [tool["name"] for tool in method["tools"]] == ["own"]
    (served,) = method["mcp_servers"]
    assert (served["server_label"], served["server_url"]) == ("records", server.url)
    assert served["headers"] == {"Authorization": "[redacted]"}
    assert (served["allowed_tools"], served["rate_limit"]) == (["lookup", "count"], 9)


async def test_an_import_registers_all_tools_or_none(api: Api, server: McpServerUnderTest) -> None:
    await imported(api, server, "count")
    sent = {"server": entry(server, allowed_tools=["lookup", "count"])}
    error = (await api.call("POST", IMPORT, json=sent)).json()["error"]
    assert (error["code"], error["param"]) == ("name_taken", "name")
    assert "'count'" in error["message"]
    listed = (await api.call("GET", "/v1/tools")).json()["data"]
    assert [tool["name"] for tool in listed] == ["count"]


@pytest.mark.parametrize(
    ("change", "code", "param"),
    [
        ({"server_url": f"{ENDPOINT}/mcp"}, "mcp_server_unavailable", "server.server_url"),
        ({"allowed_tools": ["lokup"]}, "unknown_tool", "server.allowed_tools"),
        ({"server_url": "http://10.0.0.1/"}, "endpoint_not_allowed", "server.server_url"),
    ],
)
async def test_a_server_that_cannot_be_listed_is_refused(
    api: Api, server: McpServerUnderTest, *, change: dict[str, Any], code: str, param: str
) -> None:
    reply = await api.call("POST", IMPORT, json={"server": entry(server, **change)})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (400, code), error
    assert error["param"].startswith(param)


async def test_a_tool_of_a_server_is_called_as_no_endpoint(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    (lookup,) = await imported(api, server, "lookup")
    reply = await api.call("POST", f"/v1/tools/{lookup['id']}/test", json={})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, "tool_id")
    assert "POST /v1/fine_tuning/alpha/mcp_servers/test tests it" in error["message"]
    named = {"server_label": "records", "server_url": server.url}
    assert json.dumps({"server": named, "tool": "lookup"}) in error["message"]
    wrong = {"name": "b", "server_url": ENDPOINT, "server_label": "1st"}
    for path, sent, param in (
        ("/v1/tools", wrong, "server_label"),
        (JOBS, changed(body, ("tools",), [wrong]), "method.reinforcement.tools[0].server_label"),
        (JOBS, changed(body, ("tools",), [{"id": lookup["id"]}] * 2),
         "method.reinforcement.tools"),
    ):  # fmt: skip
        reply = await api.call("POST", path, json=sent)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text


async def test_servers_of_one_label_are_refused_where_the_call_names_them(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    (lookup,) = await imported(api, server, "lookup")
    sent = {"server": entry(server, allowed_tools=["count"], authorization="another-key-5")}
    (count,) = (await api.call("POST", IMPORT, json=sent)).json()["data"]
    own = {"name": "own", "server_url": ENDPOINT}
    both = changed(body, ("tools",), [own, {"id": lookup["id"]}, {"id": count["id"]}])
    beside = changed(
        changed(body, ("tools",), [{"id": lookup["id"]}]), ("mcp_servers",), [entry(server)]
    )
    for sent, index, other in (
        (both, 2, "method.reinforcement.tools[1]"),
        (beside, 0, "a server of 'mcp_servers'"),
    ):
        refused = (await api.call("POST", JOBS, json=sent)).json()["error"]
        report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
        assert refused["param"] == f"method.reinforcement.tools[{index}]"
        assert f"labelled 'records', as is that of {other}" in refused["message"]
        assert report["errors"][0]["message"] == refused["message"]
        assert not [fault for fault in report["errors"] if AT in (fault["param"] or "")]
        assert CANARY not in json.dumps(report)


async def test_faults_of_a_registered_tools_server_are_those_of_its_reference(
    api: Api, body: dict[str, Any], server: McpServerUnderTest, database: Database
) -> None:
    lookup, count = await imported(api, server, "lookup", "count")
    own = {"name": "own", "server_url": ENDPOINT}
    sent = changed(body, ("tools",), [own, {"id": lookup["id"]}, {"id": count["id"]}])
    server.gone = {"count"}
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    (fault,) = [each for each in report["errors"] if each["code"] == "unknown_tool"]
    assert fault["param"] == "method.reinforcement.tools[2]"
    assert fault["message"].startswith("The MCP server 'records' has no tool 'count'.")
    (check,) = [each for each in report["endpoints"] if each["name"] == "records"]
    assert check["param"] == "method.reinforcement.tools[1]"
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        connection.execute(
            "UPDATE registered_versions SET definition = definition || "
            """'{"server_url": "http://10.0.0.1/mcp"}'"""
        )
    refused = (await api.call("POST", JOBS, json=sent)).json()["error"]
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert (refused["code"], refused["param"]) == (
        "endpoint_not_allowed",
        "method.reinforcement.tools[1]",
    )
    assert refused["message"].startswith("server_url is not allowed: 10.0.0.1:80 is a private")
    about = "It is about the MCP server 'records' of the registered tool 'lookup'."
    assert refused["message"].endswith(about)
    assert report["errors"][0]["message"] == refused["message"]
    assert not [fault for fault in report["errors"] if AT in fault["param"]]


@cases(
    ("change", "part", "code", "words"),
    [
        ({"headers": {"Mcp-Method": "a"}}, ".headers", "invalid_value",
         "Invalid value for 'method.reinforcement.tools[1].headers': the header 'mcp-method'"),
        ({"server_url": "http://10.0.0.1/mcp"}, ".server_url", "endpoint_not_allowed", "private"),
    ],
)  # fmt: skip
async def test_faults_of_a_sent_tools_server_are_those_of_the_tool(
    api: Api, body: dict[str, Any], *, change: dict[str, Any], part: str, code: str, words: str
) -> None:
    own = {"name": "own", "server_url": ENDPOINT}
    tool = {"name": "a", "server_url": ENDPOINT, "server_label": "records", **change}
    sent = changed(body, ("tools",), [own, tool])
    refused = (await api.call("POST", JOBS, json=sent)).json()["error"]
    assert (refused["param"], refused["code"]) == (f"method.reinforcement.tools[1]{part}", code)
    assert words in refused["message"]
    assert refused["message"].endswith("It is about the MCP server 'records' of the tool 'a'.")
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["errors"][0]["message"] == refused["message"]
    assert not [fault for fault in report["errors"] if AT in fault["param"]]


async def test_a_listing_that_is_sent_is_refused_and_not_read(
    api: Api, body: dict[str, Any], server: McpServerUnderTest
) -> None:
    tool = {"name": "evil", "input_schema_json": "[" * 100_000}
    listing = {"protocol_version": "1", "tools": [tool]}
    servers = [{**entry(server), "type": "mcp", "listing": listing}]
    sent = changed(body, ("mcp_servers",), servers)
    sent["method"]["reinforcement"].pop("tools")
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert [issue["message"] for issue in report["errors"] if issue["param"].endswith("listing")]
    refused = await api.call("POST", JOBS, json=sent)
    assert refused.json()["error"]["param"] == "method.reinforcement.mcp_servers[0].listing"
