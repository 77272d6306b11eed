import asyncio
from typing import Any

import psycopg

from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases
from tests.support.stack import Database

TOOLS = "/v1/tools"
CANARY = "canary-7f3a-secret"
TOOL: dict[str, Any] = {
    "name": "search",
    "server_url": ENDPOINT,
    "headers": {"X-Key": CANARY},
    "description": "Looks things up.",
    "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    "rate_limit": 50,
    "metadata": {"team": "a"},
    "timeout_class": "slow",
}


async def made(api: Api, **changes: Any) -> dict[str, Any]:
    reply = await api.call("POST", TOOLS, json={**TOOL, **changes})
    assert reply.status_code == 200, reply.text
    return reported(reply.json(), "timeout_class")


def reported(tool: dict[str, Any], *unread: str) -> dict[str, Any]:
    """Returns a tool as it is read later, without the warnings about its unread keys."""
    warned = [warning["param"] for warning in tool.pop("warnings")]
    assert set(unread) <= set(warned)
    return tool


async def test_a_tool_is_usable_from_creation_to_deletion(api: Api) -> None:
    tool = await made(api)
    assert tool["id"].startswith("tool_")
    assert tool == {
        **{key: value for key, value in TOOL.items() if key != "timeout_class"},
        "id": tool["id"],
        "object": "tool",
        "created_at": tool["created_at"],
        "updated_at": tool["created_at"],
        "version": 1,
        "headers": {"X-Key": "[redacted]"},
    }
    path = f"{TOOLS}/{tool['id']}"
    assert (await api.call("GET", path)).json() == tool
    update = await api.call("POST", path, json={"description": None, "rate_limit": 5})
    second = update.json()
    assert (second["version"], second["description"], second["rate_limit"]) == (2, None, 5)
    assert second["headers"] == {"X-Key": "[redacted]"}
    assert second["metadata"] == {"team": "a"}
    assert (await api.call("GET", path)).json() == second
    assert (await api.call("GET", path, params={"version": 1})).json() == tool
    versions = (await api.call("GET", f"{path}/versions")).json()
    assert versions == {
        "object": "list", "data": [second, tool], "has_more": False, "first_id": "2",
        "last_id": "1",
    }  # fmt: skip
    listed = (await api.call("GET", TOOLS)).json()
    assert listed == {
        "object": "list", "data": [second], "has_more": False, "first_id": tool["id"],
        "last_id": tool["id"],
    }  # fmt: skip
    deleted = await api.call("DELETE", path)
    assert deleted.json() == {"id": tool["id"], "object": "tool", "deleted": True}
    for method, tail in (("GET", ""), ("GET", "/versions"), ("POST", ""), ("DELETE", "")):
        gone = await api.call(method, path + tail, json={} if method == "POST" else None)
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "tool_not_found")
    assert (await api.call("GET", TOOLS)).json()["data"] == []


async def test_versions_page_by_their_numbers(api: Api) -> None:
    path = f"{TOOLS}/{(await made(api))['id']}"
    for number in range(2, 6):
        reply = await api.call("POST", path, json={"description": str(number)})
        assert reply.json()["version"] == number
    seen: list[int] = []
    more, after = True, dict[str, str]()
    while more:
        page = (await api.call("GET", f"{path}/versions", params={"limit": 2, **after})).json()
        seen += [tool["version"] for tool in page["data"]]
        more, after = page["has_more"], {"after": page["last_id"]}
    assert seen == [5, 4, 3, 2, 1]
    assert (await api.call("GET", path, params={"version": 6})).status_code == 404
    for wrong in ("0", "x", str(2**31)):
        assert (await api.call("GET", path, params={"version": wrong})).status_code == 400


async def test_tools_page_newest_first_without_gaps(api: Api) -> None:
    ids = [(await made(api, name=f"t{number}", headers=None))["id"] for number in range(25)]
    seen: list[str] = []
    more, after = True, dict[str, str]()
    while more:
        page = (await api.call("GET", TOOLS, params={"limit": 10, **after})).json()
        assert page["first_id"] == page["data"][0]["id"]
        seen += [tool["id"] for tool in page["data"]]
        more, after = page["has_more"], {"after": page["last_id"]}
    assert seen == ids[::-1]
    unknown = await api.call("GET", TOOLS, params={"after": "tool_unknown"})
    foreign = await api.call("GET", TOOLS, params={"after": ids[0]}, key=api.other_key)
    assert (unknown.status_code, foreign.status_code) == (400, 400)


async def test_a_name_is_taken_among_the_living_of_a_project(api: Api) -> None:
    first, other = await made(api), await made(api, name="other")
    taken = await api.call("POST", TOOLS, json=TOOL)
    renamed = await api.call("POST", f"{TOOLS}/{other['id']}", json={"name": "search"})
    for reply in (taken, renamed):
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error["param"]) == (400, "name_taken", "name")
    assert (await api.call("GET", f"{TOOLS}/{other['id']}")).json() == other
    elsewhere = await api.call("POST", TOOLS, json=TOOL, key=api.other_key)
    assert elsewhere.status_code == 200
    await api.call("DELETE", f"{TOOLS}/{first['id']}")
    assert (await made(api))["id"] != first["id"]


async def test_another_tenant_finds_nothing(api: Api) -> None:
    tool = await made(api)
    for method, tail in (
        ("GET", ""), ("GET", "/versions"), ("POST", ""), ("DELETE", ""), ("POST", "/test"),
    ):  # fmt: skip
        body: dict[str, Any] = {"json": {}} if method == "POST" else {}
        foreign = await api.call(method, f"{TOOLS}/{tool['id']}{tail}", key=api.other_key, **body)
        unknown = await api.call(method, f"{TOOLS}/tool_unknown{tail}", key=api.other_key, **body)
        assert foreign.status_code == unknown.status_code == 404
        message = foreign.json()["error"]["message"].replace(tool["id"], "tool_unknown")
        assert message == unknown.json()["error"]["message"]
    assert (await api.call("GET", TOOLS, key=api.other_key)).json()["data"] == []
    assert (await api.call("GET", f"{TOOLS}/{tool['id']}")).json() == tool
    other_noun = await api.call("GET", f"/v1/graders/{tool['id']}")
    assert other_noun.status_code == 404


async def test_a_header_is_in_no_reply_and_in_no_row(api: Api, database: Database) -> None:
    tool = await made(api)
    path = f"{TOOLS}/{tool['id']}"
    replies = [
        await api.call("POST", path, json={"description": "new"}),
        await api.call("GET", path),
        await api.call("GET", path, params={"version": 1}),
        await api.call("GET", f"{path}/versions"),
        await api.call("GET", TOOLS),
        await api.call("POST", TOOLS, json=TOOL),
    ]
    assert all(CANARY not in reply.text for reply in replies)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        heads = connection.execute("SELECT h::text FROM registered_objects h").fetchall()
        rows = connection.execute("SELECT v::text, secrets FROM registered_versions v").fetchall()
    assert (len(heads), len(rows)) == (1, 2)
    for text, sealed in rows:
        assert "[redacted]" in text
        assert CANARY not in text
        assert CANARY.encode() not in sealed
    assert rows[0][1] != rows[1][1]


async def test_redacted_stands_for_the_value_only_at_the_same_address(api: Api) -> None:
    tool = await made(api)
    path = f"{TOOLS}/{tool['id']}"
    echoed = await api.call("POST", path, json={**tool, "description": "edited"})
    assert (echoed.status_code, echoed.json()["version"]) == (200, 2)
    moved = {"server_url": f"{ENDPOINT}/elsewhere"}
    for body in (moved, {**tool, **moved}, {"headers": {"X-Other": "[redacted]"}}):
        reply = await api.call("POST", path, json=body)
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "headers"), reply.text
    resent = await api.call("POST", path, json={**moved, "headers": {"X-Key": "another"}})
    assert (resent.status_code, resent.json()["version"]) == (200, 3)
    unknown = await api.call("POST", TOOLS, json={**TOOL, "name": "n", "headers": tool["headers"]})
    assert unknown.json()["error"]["param"] == "headers"


async def test_keys_of_the_service_in_a_body_are_ignored(api: Api) -> None:
    forged = {
        "id": "tool_mine", "object": "grader", "project_id": "proj_other", "version": 77,
        "created_at": 1, "updated_at": 2, "organization_id": "org-x", "deleted_at": 5,
    }  # fmt: skip
    tool = await made(api, **forged)
    assert (tool["object"], tool["version"], tool["id"] != "tool_mine") == ("tool", 1, True)
    assert tool["created_at"] > 1
    assert not {"project_id", "organization_id"} & tool.keys()
    path = f"{TOOLS}/{tool['id']}"
    updated = reported((await api.call("POST", path, json=forged)).json(), "deleted_at")
    assert (updated["id"], updated["version"], updated["name"]) == (tool["id"], 2, "search")
    assert updated["created_at"] == tool["created_at"]
    assert (await api.call("GET", TOOLS, key=api.other_key)).json()["data"] == []
    assert (await api.call("GET", path)).json() == updated


@cases(
    ("change", "param", "code"),
    [
        ({"name": "has space"}, "name", "invalid_value"),
        ({"server_url": "http://169.254.169.254/x"}, "server_url", "endpoint_not_allowed"),
        ({"headers": {"webhook-id": "x"}}, "headers", "endpoint_not_allowed"),
        ({"headers": {"X-A": "a\r\nb"}}, "headers", "endpoint_not_allowed"),
        ({"headers": {"X-A": 5}}, "headers.X-A", "invalid_value"),
        ({"rate_limit": True}, "rate_limit", "invalid_value"),
        ({"parameters": {"type": "objekt"}}, "parameters.type", "invalid_function_parameters"),
        ({"metadata": {"k": 1}}, "metadata.k", "invalid_value"),
    ],
)
async def test_a_wrong_tool_names_its_parameter_and_makes_nothing(
    api: Api, change: dict[str, Any], param: str, code: str
) -> None:
    reply = await api.call("POST", TOOLS, json={**TOOL, **change})
    error = reply.json()["error"]
    assert (reply.status_code, error["param"], error["code"]) == (400, param, code), error
    assert (await api.call("GET", TOOLS)).json()["data"] == []


async def test_two_updates_at_once_make_two_versions_or_one_refusal(api: Api) -> None:
    path = f"{TOOLS}/{(await made(api))['id']}"
    replies = await asyncio.gather(
        *(api.call("POST", path, json={"description": str(number)}) for number in range(6))
    )
    good = [reply.json()["version"] for reply in replies if reply.status_code == 200]
    refused = [reply.json()["error"]["code"] for reply in replies if reply.status_code != 200]
    assert set(refused) <= {"version_conflict"}
    assert sorted(good) == list(range(2, 2 + len(good)))
    assert (await api.call("GET", path)).json()["version"] == 1 + len(good)
