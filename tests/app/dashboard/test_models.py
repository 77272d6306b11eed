"""The page of models, and the playground in front of an engine on a real socket."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from app.web.forms import LONGEST_TEXT
from tests.support.api.application import Api, running
from tests.support.dashboard.hang_ups import hang_up_of
from tests.support.dashboard.scenes import HOSTILE, create_job, execute
from tests.support.dashboard.visits import Visit, rows_of, texts_of, visiting
from tests.support.engines.chat_engine import ChatEngine, chat_engine
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
        "max_tokens": "32", "temperature": "0.5",
    }  # fmt: skip
    shown = await visit.post("/models/ask", sent)
    assert shown.status_code == 200, shown.text
    assert "<script>alert" not in shown.text
    assert texts_of(shown.text, "h3") == [BASE, TUNED]
    assert shown.text.count("&lt;script&gt;alert(1)") == 2
    assert {body["model"] for body in engine.bodies} == {BASE, "lora-engine-name"}
    for body in engine.bodies:
        assert body["messages"] == [{"role": "user", "content": "Which river?"}]
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


async def test_a_prompt_of_the_longest_length_arrives_in_any_script(
    visit: Visit, engine: ChatEngine
) -> None:
    prompt = "€" * (LONGEST_TEXT - 2) + "\r\n€"
    reply = await visit.post("/models/ask", await asking(visit, prompt=prompt))
    assert reply.status_code == 200, reply.text
    [first, second] = engine.bodies
    assert first["messages"][0]["content"] == prompt.replace("\r\n", "\n")
    assert second["messages"] == first["messages"]
    assert f'maxlength="{LONGEST_TEXT}"' in reply.text
    longer = await visit.post("/models/ask", await asking(visit, prompt="€" * (LONGEST_TEXT + 1)))
    assert (longer.status_code, len(engine.bodies)) == (400, 2)
    assert "has 10,001 characters; at most 10,000 are read" in texts_of(longer.text, "main")[0]
