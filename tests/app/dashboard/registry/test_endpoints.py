"""Pages of registered tools, graders and environments, and their tests over real sockets."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.http.requests import LONGEST_ROW, LONGEST_TEXT
from tests.support.api.application import Api, running
from tests.support.dashboard.scenes import HOSTILE, create_job, execute, put_points
from tests.support.dashboard.visits import Visit, rows_of, texts_of, visiting
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.environments.http_environments import GuessingWorld
from tests.support.mcp.mcp_server import mcp_server
from tests.support.stack import Database

CANARY = "canary-endpoint-7e"


@dataclass
class Customer:
    """A tool, a grader and an environment at one address."""

    world: GuessingWorld = field(default_factory=GuessingWorld)
    scored: list[Any] = field(default_factory=list)

    def __call__(self, received: ReceivedRequest) -> Reply:
        if received.path == "/world":
            return self.world(received)
        if received.path == "/grader":
            self.scored.append(received.json)
            return Reply(json={"score": 0.25, "reasoning": HOSTILE})
        call = received.json
        return Reply(
            json={"output": f"found {HOSTILE}", "call_id": call["call_id"], "id": call["id"]}
        )


@dataclass
class Scene:
    customer: Customer
    server: EndpointServer
    api: Api
    visit: Visit

    async def register(self, kind: str, **sent: Any) -> str:
        reply = await self.api.call("POST", f"/v1/{kind}", json=sent)
        assert reply.status_code == 200, reply.text
        return str(reply.json()["id"])

    async def test(self, path: str, **fields: str) -> str:
        token = await self.visit.form_token(f"/endpoints/{path}")
        reply = await self.visit.post(f"/endpoints/{path}/test", {"form_token": token, **fields})
        assert reply.status_code == 200, reply.text
        assert CANARY not in reply.text
        assert "<script>alert" not in reply.text
        return reply.text


@pytest.fixture
async def scene(database: Database) -> AsyncIterator[Scene]:
    customer = Customer()
    async with (
        endpoint(customer) as server,
        running(database, server.host_port, "127.0.0.1:9") as api,
        visiting(api.http) as visit,
    ):
        await visit.sign_in(api.key)
        yield Scene(customer, server, api, visit)


async def test_the_list_shows_where_each_one_is_and_what_jobs_measured(
    scene: Scene, database: Database
) -> None:
    empty = (await scene.visit.get("/endpoints")).text
    assert empty.count("None is registered.") == 3
    headers = {"X-Key": CANARY}
    url = f"{scene.server.url()}?token={CANARY}"
    tool = await scene.register("tools", name="search", server_url=url, headers=headers)
    await scene.register("tools", name="other", server_url=scene.server.url())
    grader = {"type": "endpoint", "url": scene.server.url("/grader"), "headers": headers}
    await scene.register("graders", name=HOSTILE, grader=grader)
    exact = {"type": "exact_match", "reference": "{{item.answer}}"}
    await scene.register("graders", name="exact", grader=exact)
    await scene.register("environments", name="world", url=scene.server.url("/world"))
    job = await create_job(scene.api, suffix="rivers")
    execute(
        database,
        "UPDATE fine_tuning_jobs SET method = jsonb_set(method,"
        " '{reinforcement,tools,0,id}', to_jsonb(%s::text)) WHERE id = %s",
        (tool, job),
    )
    put_points(
        database,
        job,
        {
            ("tool/search/calls_mean", "train"): [1.0, 2.5],
            ("tool/search/errors", "train"): [0.0, 3.0],
            ("tool/search/latency_s_mean", "train"): [0.5, 0.125],
        },
    )
    page = (await scene.visit.get("/endpoints")).text
    host = scene.server.host_port
    assert CANARY not in page
    assert rows_of(page, "Tools")[1:] == [
        ["other", host, "1", "–", "–", "–", "–"],
        ["search", host, "1", "rivers", "2.5", "3", "125 ms"],
    ]
    assert [row[1:] for row in rows_of(page, "Graders")[1:]] == [
        ["this service", "1", "–", "–"],
        [host, "1", "–", "–"],
    ]
    assert "<script>alert" not in page
    assert rows_of(page, "Environments")[1][:3] == ["world", host, "1"]
    one = (await scene.visit.get(f"/endpoints/tools/{tool}")).text
    assert CANARY not in one
    assert f"http://{host}/tool?token=[redacted]" in texts_of(one, "code")
    assert rows_of(one, "Calls, table") == [["Step", "rivers"], ["1", "1"], ["2", "2.5"]]
    assert rows_of(one, "Errors, table")[2] == ["2", "3"]
    assert rows_of(one, "Latency, table")[2] == ["2", "0.125"]


async def test_a_job_with_the_same_address_counts(scene: Scene, database: Database) -> None:
    url = scene.server.url("/grader")
    one = await scene.register("graders", name="a", grader={"type": "endpoint", "url": url})
    job = await create_job(scene.api)
    set_url = (
        "UPDATE fine_tuning_jobs SET method = jsonb_set(method, '{reinforcement,grader,url}',"
        " to_jsonb(%s::text)) WHERE id = %s"
    )
    page = f"/endpoints/graders/{one}"
    assert "None of the newest 50 jobs" in (await scene.visit.get(page)).text
    execute(database, set_url, (url, job))
    assert "None of these jobs has done a step" in (await scene.visit.get(page)).text
    put_points(database, job, {("grader/error_share", "train"): [0.5]})
    shown = (await scene.visit.get(page)).text
    assert rows_of(shown, "Errors, table") == [["Step", job], ["1", "0.5"]]


async def test_the_test_of_a_tool_shows_its_log(scene: Scene) -> None:
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    sent = {"server_url": scene.server.url(), "headers": {"X-Key": CANARY}}
    tool = await scene.register("tools", name="search", parameters=parameters, **sent)
    page = await scene.test(f"tools/{tool}")
    results = {row[0]: row[1] for row in rows_of(page, "Log of the test")[1:]}
    expected = dict.fromkeys(("shape", "latency", "signature"), "passed")
    assert expected.items() <= results.items()
    assert "&lt;script&gt;alert(1)" in page
    assert len(scene.server.received) == 1 + 2 + 2 + 20
    await scene.api.call("DELETE", f"/v1/tools/{tool}")
    assert (await scene.visit.get(f"/endpoints/tools/{tool}")).status_code == 404


async def test_the_test_of_an_environment_shows_its_calls(scene: Scene) -> None:
    world = await scene.register("environments", name="world", url=scene.server.url("/world"))
    page = await scene.test(f"environments/{world}")
    assert {row[1] for row in rows_of(page, "Log of the test")[1:]} == {"passed"}
    calls = [text.split(":")[0] for text in texts_of(page, "summary") if ": 200" in text]
    assert calls == ["reset", "step", "step again", "close"]
    assert len(scene.customer.world.of("reset")) == 1


async def test_a_grader_is_tried_on_an_answer(scene: Scene) -> None:
    grader = {"type": "endpoint", "url": scene.server.url("/grader"), "headers": {"X-K": CANARY}}
    path = f"graders/{await scene.register('graders', name='own', grader=grader)}"
    page = await scene.test(path, answer="The Nile", item='{"river": "Nile"}')
    assert "score 0.25" in " ".join(texts_of(page, "p"))
    (sent,) = scene.customer.scored
    assert sent["sample"]["output_text"] == "The Nile"
    assert sent["item"] == {"river": "Nile"}
    assert "The Nile" in texts_of(page, "textarea")
    token = await scene.visit.form_token(f"/endpoints/{path}")
    for item in ("{", "[1]"):
        fields = {"form_token": token, "answer": "x", "item": item}
        assert (await scene.visit.post(f"/endpoints/{path}/test", fields)).status_code == 400
    refused = await scene.visit.post(f"/endpoints/{path}/test", {"form_token": "0" * 64})
    assert refused.status_code == 403
    foreign = {"origin": "http://evil.test"}
    refused = await scene.visit.post(f"/endpoints/{path}/test", {"form_token": token}, foreign)
    assert refused.status_code == 403
    assert len(scene.customer.scored) == 1


async def test_a_grader_that_fails_reports_the_reason(scene: Scene) -> None:
    url = scene.server.url("/grader")
    one = await scene.register("graders", name="own", grader={"type": "endpoint", "url": url})
    scene.server.script = lambda _: Reply(status=404, json={"error": "none"})
    page = await scene.test(f"graders/{one}", answer="x")
    ((_, status, detail),) = rows_of(page, "Log of the test")[1:]
    assert (status, "404" in detail) == ("failed", True)


async def test_the_test_of_an_imported_tool_lists_its_server(database: Database) -> None:
    with mcp_server() as server:
        async with running(database, server.host_port) as api, visiting(api.http) as visit:
            await visit.sign_in(api.key)
            entry = {"server_label": "records", "server_url": server.url, "authorization": CANARY}
            sent = {"server": {**entry, "allowed_tools": ["lookup"]}}
            imported = await api.call("POST", "/v1/fine_tuning/alpha/mcp_servers/import", json=sent)
            (tool,) = imported.json()["data"]
            path = f"/endpoints/tools/{tool['id']}"
            token = await visit.form_token(path)
            page = await visit.post(f"{path}/test", {"form_token": token})
            assert page.status_code == 200, page.text
            assert CANARY not in page.text
            checks = rows_of(page.text, "Log of the test")[1:]
            assert "failed" not in {row[1] for row in checks}, json.dumps(checks)
            assert not server.calls()
            assert "MCP server records" in (await visit.get("/endpoints")).text


async def test_a_list_continues_behind_its_last_one(scene: Scene) -> None:
    for number in range(51):
        await scene.register("tools", name=f"t{number}", server_url=scene.server.url())
    first = (await scene.visit.get("/endpoints?kind=tools")).text
    assert len(rows_of(first, "Tools")) == 1 + 50
    last = rows_of(first, "Tools")[-1][0]
    assert last == "t1"
    (link,) = [part for part in first.split('"') if part.startswith("/endpoints?kind=tools&amp;")]
    rest = (await scene.visit.get(link.replace("&amp;", "&"))).text
    assert [row[0] for row in rows_of(rest, "Tools")[1:]] == ["t0"]
    for wrong in ("/endpoints?kind=curricula", "/endpoints?x=1", "/endpoints/curricula/x"):
        assert (await scene.visit.get(wrong)).status_code == 400, wrong
    assert (await scene.visit.get("/endpoints/tools/tool_never")).status_code == 404


async def test_the_longest_answer_and_row_arrive_together_in_any_script(scene: Scene) -> None:
    grader = {"type": "endpoint", "url": scene.server.url("/grader")}
    made = await scene.register("graders", name="long", grader=grader)
    item = {"text": "€" * (LONGEST_ROW - len('{"text":""}'))}
    sent = {
        "answer": "€" * LONGEST_TEXT,
        "item": json.dumps(item, ensure_ascii=False).replace(" ", ""),
    }
    await scene.test(f"graders/{made}", **sent)
    [scored] = scene.customer.scored
    assert scored["item"] == item
    assert sent["answer"] in json.dumps(scored["sample"], ensure_ascii=False)
    token = await scene.visit.form_token(f"/endpoints/graders/{made}")
    longer = {"form_token": token, "answer": "", "item": sent["item"] + " "}
    reply = await scene.visit.post(f"/endpoints/graders/{made}/test", longer)
    assert (reply.status_code, len(scene.customer.scored)) == (400, 1)
    assert "at most 4,000 are read" in reply.text
