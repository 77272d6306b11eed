"""The page of models, and the playground in front of an engine on a real socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.api.application import Api, running
from tests.support.dashboard.hang_ups import hang_up_of
from tests.support.dashboard.scenes import HOSTILE, create_job, execute
from tests.support.dashboard.visits import Visit, rows_of, texts_of, visiting
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.engines.chat_turns import called, chunk
from tests.support.patience import until
from tests.support.stack import Database

BASE = "tiny-agent-2026-11-23"
TUNED = "ft:tiny-agent:p:rivers:abc"
INSERT = (
    "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name, object_key, step)"
    " SELECT %s, project_id, id, 'tiny-agent-2026-11-23', %s, 'adapters/x', %s"
    " FROM fine_tuning_jobs WHERE id = %s"
)


@pytest.fixture
def engine() -> Iterator[ChatEngine]:
    with chat_engine(BASE, "lora-engine-name") as engine:
        yield engine


@pytest.fixture
async def api(database: Database, engine: ChatEngine) -> AsyncIterator[Api]:
    settings = database.settings.model_copy(update={"engine_url": engine.url})
    async with running(replace(database, settings=settings), "127.0.0.1:9") as api:
        yield api


async def test_models_come_with_their_jobs_and_answer_side_by_side(
    api: Api, visit: Visit, database: Database, engine: ChatEngine
) -> None:
    page = (await visit.get("/models")).text
    assert "No job has published a model" in page
    job = await create_job(api)
    for name, engine_name, step in ((TUNED, "lora-engine-name", 12), (f"{TUNED}:ckpt-1", "c", 6)):
        execute(database, INSERT, (name, engine_name, step, job))
    execute(database, "UPDATE tuned_models SET created_at = now()")
    page = (await visit.get(f"/models?model={TUNED}")).text
    listed = rows_of(page, "Tuned models and checkpoints")[1:]
    assert [row[:4] for row in listed] == [
        [TUNED, BASE, job, "12"],
        [f"{TUNED}:ckpt-1", BASE, job, "6"],
    ]
    assert "lora-engine-name" not in page
    assert page.count(f'<option value="{BASE}" selected>') == 1
    assert page.count(f'<option value="{TUNED}" selected>') == 1
    engine.answer = HOSTILE
    token = await visit.form_token("/models")
    sent = {
        "form_token": token, "first": BASE, "second": TUNED, "prompt": "Which river?",
        "instructions": "Be brief.", "max_tokens": "32", "temperature": "0.5",
    }  # fmt: skip
    shown = await visit.post("/models/ask", sent)
    assert shown.status_code == 200, shown.text
    assert "<script>alert" not in shown.text
    assert texts_of(shown.text, "h3") == [BASE, TUNED]
    assert shown.text.count("&lt;script&gt;alert(1)") == 2
    assert {body["model"] for body in engine.bodies} == {BASE, "lora-engine-name"}
    for body in engine.bodies:
        system = {"role": "system", "content": "Be brief."}
        assert body["messages"] == [system, {"role": "user", "content": "Which river?"}]
        assert body["temperature"] == 0.5
        assert 32 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert "Which river?" in texts_of(shown.text, "textarea")
    refused = await visit.post("/models/ask", {**sent, "second": "never"})
    assert "does not exist" in refused.text
    assert refused.text.count("&lt;script&gt;alert(1)") == 1
    count = len(engine.bodies)
    for wrong in (
        {"prompt": " "},
        {"max_tokens": "x"},
        {"max_tokens": "0"},
        {"temperature": "nan"},
    ):
        assert (await visit.post("/models/ask", {**sent, **wrong})).status_code == 400, wrong
    assert (await visit.post("/models/ask", {**sent, "form_token": "0"})).status_code == 403
    assert len(engine.bodies) == count
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        assert TUNED not in (await stranger.get(f"/models?model={TUNED}")).text
        foreign = {**sent, "form_token": await stranger.form_token("/models")}
        told = (await stranger.post("/models/ask", foreign)).text
        assert "does not exist" in told
        assert len(engine.bodies) == count + 1


async def asking(visit: Visit, **fields: str) -> dict[str, str]:
    token = await visit.form_token("/models")
    sent = {"form_token": token, "first": BASE, "second": BASE, "prompt": "Which river?"}
    return {**sent, "max_tokens": "32", "temperature": "0.5", **fields}


async def test_both_engines_stop_when_the_reader_hangs_up(visit: Visit, engine: ChatEngine) -> None:
    engine.hang = True
    sent, hang_up = await asking(visit), hang_up_of(visit)
    asked = asyncio.ensure_future(visit.post("/models/ask", sent))
    await until(lambda: len(engine.bodies) == 2, what="both calls")
    hang_up.now.set()
    assert "The client hung up." in (await asked).text
    await until(engine.cancelled.is_set, what="the end of a call")


CALL = '<tool_call>\n{"name": "search", "arguments": {"q": "Nile"}}\n</tool_call>'


def events_of(text: str, side: int) -> list[dict[str, Any]]:
    sent = [json.loads(one.removeprefix("data: ")) for one in text.split("\n\n") if one]
    return [one for one in sent if one["side"] == side]


async def registered(api: Api, url: str) -> str:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    sent = {"name": "search", "server_url": url, "parameters": schema, "description": "Looks."}
    reply = await api.call("POST", "/v1/tools", json=sent)
    assert reply.status_code == 200, reply.text
    return str(reply.json()["id"])


async def test_the_answer_arrives_piece_by_piece(visit: Visit, engine: ChatEngine) -> None:
    engine.answer = f"four{HOSTILE}"
    reply = await visit.post("/models/stream", await asking(visit))
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["cache-control"] == "no-store"
    for side in (0, 1):
        events = events_of(reply.text, side)
        texts = [one["text"] for one in events if one["kind"] == "text"]
        assert (len(texts), "".join(texts)) == (2, engine.answer)
        assert [one["kind"] for one in events] == ["turn", "text", "text", "done"]
        assert (events[-1]["name"], events[-1]["tokens"]) == ("stop", 2)
    unknown = await visit.post("/models/stream", await asking(visit, second="never"))
    assert "does not exist" in events_of(unknown.text, 1)[-1]["text"]
    assert events_of(unknown.text, 0)[-1]["kind"] == "done"
    engine.break_off = True
    broken = events_of((await visit.post("/models/stream", await asking(visit))).text, 0)
    assert broken[-1]["kind"] == "error"
    wrong = await visit.post("/models/stream", await asking(visit, form_token="0"))
    assert wrong.status_code == 403


async def test_chosen_tools_are_offered_and_their_calls_run(
    database: Database, engine: ChatEngine
) -> None:
    def answer(received: ReceivedRequest) -> Reply:
        call = received.json
        output = f"found {HOSTILE} for {call['arguments']}"
        return Reply(json={"output": output, "call_id": call["call_id"], "id": call["id"]})

    settings = database.settings.model_copy(update={"engine_url": engine.url})
    async with (
        endpoint(answer) as server,
        running(replace(database, settings=settings), server.host_port) as api,
        visiting(api.http) as visit,
    ):
        await visit.sign_in(api.key)
        tool = await registered(api, server.url("/search"))
        assert f'name="tool {tool}"' in (await visit.get("/models")).text
        engine.stream = called("search", '{"q": "Nile"}')
        engine.answers_tools = True
        sent = await asking(visit, **{f"tool {tool}": "yes"})
        reply = await visit.post("/models/stream", sent)
        events = events_of(reply.text, 0)
        assert [one["kind"] for one in events] == [
            *("turn", "reasoning", "call", "reply", "turn", "text", "text", "done")
        ]
        assert (events[2]["name"], events[2]["text"]) == ("search", '{"q": "Nile"}')
        assert events[3]["text"] == f'found {HOSTILE} for {{"q": "Nile"}}'
        assert events[-1]["tokens"] == 7
        first, last = engine.bodies[0], engine.bodies[-1]
        [offered] = first["tools"]
        assert offered["function"]["name"] == "search"
        assert offered["function"]["description"] == "Looks."
        assert [one["role"] for one in last["messages"]] == ["user", "assistant", "tool"]
        assert last["messages"][2]["content"] == events[3]["text"]
        assert len(server.received) == 2
        # Without the script the same form shows the same as a page.
        engine.stream = called("never", "{}")
        page = (
            await visit.post("/models/ask", {**sent, "form_token": await visit.form_token()})
        ).text
        assert "<script>alert" not in page
        assert page.count("there is no tool &#39;never&#39;. Tools: search.") == 2
        assert f'name="tool {tool}" value="yes" checked' in page
        async with visiting(api.http) as stranger:
            await stranger.sign_in(api.other_key)
            foreign = {**sent, "form_token": await stranger.form_token("/models")}
            assert (await stranger.post("/models/stream", foreign)).status_code == 404
        assert len(server.received) == 2


async def test_a_broken_call_is_answered_and_a_failed_tool_ends_the_chat(
    api: Api, visit: Visit, engine: ChatEngine
) -> None:
    tool = await registered(api, "http://127.0.0.1:9/search")
    engine.stream = [chunk({"content": CALL[:-12]}), chunk({}, "stop")]
    engine.answers_tools = True
    sent = await asking(visit, **{f"tool {tool}": "yes"})
    events = events_of((await visit.post("/models/stream", sent)).text, 1)
    assert [one["kind"] for one in events] == [
        *("turn", "text", "reply", "turn", "text", "text", "done")
    ]
    assert "could not be parsed" in events[2]["text"]
    sampled = engine.bodies[-1]["messages"][-1]["content"]
    assert sampled.replace("\u200b", "") == events[2]["text"]  # no text of a message forges a turn
    engine.stream = called("search", "{}")
    failed = events_of((await visit.post("/models/stream", sent)).text, 0)
    assert failed[-1]["kind"] == "error"
    assert "The tool 'search' failed" in failed[-1]["text"]


async def test_a_stream_ends_with_its_reader(visit: Visit, engine: ChatEngine) -> None:
    engine.hang = True
    sent, hang_up = await asking(visit), hang_up_of(visit)
    asked = asyncio.ensure_future(visit.post("/models/stream", sent))
    await until(lambda: len(engine.bodies) == 2, what="both calls")
    hang_up.now.set()
    await until(engine.cancelled.is_set, what="the end of a call")
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
