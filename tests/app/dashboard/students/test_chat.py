"""The chat with a student in front of an engine on a real socket, and feedback on its answers."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from tests.support.api.application import Api, running
from tests.support.dashboard.scenes import HOSTILE
from tests.support.dashboard.teaching import QUESTIONS, follow, make_student
from tests.support.dashboard.visits import Visit, texts_of, visiting
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.stack import Database

CHAT = "/teach/students/clerk/chat"
FEEDBACK = "/teach/students/clerk/feedback"


@pytest.fixture
def engine() -> Iterator[ChatEngine]:
    with chat_engine("tiny-agent-2026-11-23") as engine:
        yield engine


@pytest.fixture
async def api(database: Database, engine: ChatEngine) -> AsyncIterator[Api]:
    settings = database.settings.model_copy(update={"engine_url": engine.url})
    async with running(replace(database, settings=settings), "127.0.0.1:9") as api:
        yield api


async def test_judgements_of_a_chat_become_feedback(
    visit: Visit, api: Api, engine: ChatEngine
) -> None:
    await make_student(visit, "clerk")
    engine.answer = HOSTILE
    page = await follow(visit, CHAT, {"prompt": f"Where? {HOSTILE}"})
    assert page.status_code == 200, page.text
    assert "<script>alert" not in page.text
    assert page.text.count("&lt;script&gt;alert(1)") == 2
    first = page.url.params["answer"]
    await follow(visit, FEEDBACK, {"answer": first, "judgement": "down"})
    thanked = await follow(
        visit, FEEDBACK, {"answer": first, "judgement": "correct", "correction": "Over there."}
    )
    assert "Thank you." in thanked.text
    engine.answer = "Here."
    two = await follow(visit, CHAT, {"prompt": "And now?", "after": first, "two": "yes"})
    said = [
        {"role": "user", "content": f"Where? {HOSTILE}"},
        {"role": "assistant", "content": HOSTILE},
    ]
    assert engine.bodies[-1]["messages"] == [*said, {"role": "user", "content": "And now?"}]
    assert sorted(body["temperature"] for body in engine.bodies) == [0, 0, 1]
    assert texts_of(two.text, "h2") == ["Which answer is better?"]
    pair = {name: two.url.params[name] for name in ("answer", "other")}
    same = await follow(visit, FEEDBACK, {**pair, "judgement": "first"})
    assert (same.status_code, "there is nothing to prefer" in same.text) == (400, True)
    found = (await api.call("GET", "/v1/feedback")).json()["data"]
    assert [one["type"] for one in found] == ["correction", "thumbs"]
    assert {one["completion_id"] for one in found} == {first}


async def test_the_chat_continues_with_the_better_of_two_answers(
    visit: Visit, api: Api, engine: ChatEngine
) -> None:
    await make_student(visit, "clerk")
    stored = []
    for engine.answer in ("Left.", "Right."):
        page = await follow(visit, CHAT, {"prompt": "Where?"})
        stored.append(page.url.params["answer"])
    pair = {"answer": stored[0], "other": stored[1], "judgement": "second"}
    page = await follow(visit, FEEDBACK, pair)
    assert page.url.params["answer"] == stored[1]
    assert "Right." in page.text
    [one] = (await api.call("GET", "/v1/feedback")).json()["data"]
    assert (one["completion_id"], one["rejected_completion_id"]) == (stored[1], stored[0])
    built = await follow(visit, "/teach/examples/from-feedback", {"name": "Talk"})
    assert built.status_code == 400
    assert "The feedback makes 1 rows to train, and a job needs 10" in built.text


async def test_a_student_is_told_its_instructions_in_chat_playground_and_rows(
    visit: Visit, api: Api, engine: ChatEngine
) -> None:
    await make_student(visit, "clerk")
    page = await follow(visit, "/teach/students/clerk/instructions", {"instructions": " Obey.\r\n"})
    assert "Obey." in texts_of(page.text, "textarea")
    told = {"role": "system", "content": "Obey."}
    for question in QUESTIONS[:10]:
        answer = (await follow(visit, CHAT, {"prompt": question})).url.params["answer"]
        correct = {"answer": answer, "judgement": "correct", "correction": "Yes, always."}
        assert "Thank you." in (await follow(visit, FEEDBACK, correct)).text
    assert all(body["messages"][0] == told for body in engine.bodies)
    built = await api.call(
        "POST", "/v1/feedback/builds", json={"method": "supervised", "name": "Corrections"}
    )
    curriculum = (await api.call("GET", f"/v1/curricula/{built.json()['curriculum_id']}")).json()
    content = await api.call("GET", f"/v1/files/{curriculum['training_file']}/content")
    rows = [json.loads(line)["messages"] for line in content.text.splitlines()]
    assert {(row[0]["content"], row[-1]["content"]) for row in rows} == {("Obey.", "Yes, always.")}
    asked = {"first": "student:clerk", "second": "tiny-agent", "prompt": "Why?", "max_tokens": "8"}
    await follow(visit, "/models/ask", asked)
    both = [(body["messages"][0]["role"], body["temperature"]) for body in engine.bodies[-2:]]
    assert sorted(both) == [("system", 0), ("user", None)]


async def test_refusals_teach_and_keep_the_question(visit: Visit, engine: ChatEngine) -> None:
    await make_student(visit, "clerk")
    engine.refusals = [(400, "This question is too long for me.")]
    page = await follow(visit, CHAT, {"prompt": "Why so long?"})
    assert page.status_code == 400
    assert "There is no answer." in page.text
    assert "Why so long?" in texts_of(page.text, "textarea")
    for path, fields in (
        (CHAT, {"prompt": "  "}),
        (CHAT, {"prompt": "x", "after": "chatcmpl-never"}),
        (FEEDBACK, {"answer": "chatcmpl-never", "judgement": "up"}),
        (FEEDBACK, {"answer": "x", "judgement": "maybe"}),
        (FEEDBACK, {"answer": "x", "judgement": "correct"}),
    ):
        reply = await follow(visit, path, fields)
        assert reply.status_code in (400, 404), reply.text
    token = await visit.form_token("/teach")
    unsigned = await visit.post(CHAT, {"form_token": token[::-1], "prompt": "x"})
    assert unsigned.status_code == 403
    foreign = await visit.post(
        CHAT, {"form_token": token, "prompt": "x"}, {"origin": "http://elsewhere.example"}
    )
    assert foreign.status_code == 403
    assert len(engine.bodies) == 1


async def test_a_chat_of_another_project_is_not_found(
    visit: Visit, api: Api, engine: ChatEngine
) -> None:
    await make_student(visit, "clerk")
    answer = (await follow(visit, CHAT, {"prompt": "Where?"})).url.params["answer"]
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        await make_student(stranger, "clerk")
        assert (await stranger.get(f"{CHAT}?answer={answer}")).status_code == 404
        for path, fields in (
            (CHAT, {"prompt": "x", "after": answer}),
            (FEEDBACK, {"answer": answer, "judgement": "up"}),
        ):
            assert (await follow(stranger, path, fields)).status_code in (400, 404), path
    assert len(engine.bodies) == 1
