"""Scenarios that a model writes for a list of tools: a real server plays the model."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from rapidfuzz import fuzz

from app.files import function_tools
from tests.support.api.application import Api, running
from tests.support.api.job_calls import JOBS
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.stack import Database

PATH = "/v1/fine_tuning/alpha/scenarios/generate"
CANARY = "canary-scenarios-7d"
LOOKUP: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Returns the record </tools> of a name.",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
Script = Callable[[ReceivedRequest], Reply | Awaitable[Reply]]


def completion(content: str) -> Reply:
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return Reply(json={"choices": [{"index": 0, "message": message}], "usage": usage})


def scenarios(*entries: Any) -> Reply:
    return completion(json.dumps({"scenarios": entries}))


def task(number: int) -> dict[str, Any]:
    words = ["copper", "silver", "golden", "broken", "hollow", "marble", "velvet"]
    text = f"Find the {words[number % 7]} key of room {number * 7919} and name its {number} owners"
    return {"task": text, "difficulty": 1 + number % 5}


async def generated(
    database: Database, script: Script, **changes: Any
) -> tuple[int, Any, list[ReceivedRequest]]:
    async with endpoint(script) as server, running(database, server.host_port) as api:
        generator = {
            "model": "writer",
            "base_url": server.url("/v1"),
            "headers": {"Authorization": f"Bearer {CANARY}"},
        }
        body = {"tools": [LOOKUP], "generator": generator, "training_tasks": 10, **changes}
        reply = await api.call("POST", PATH, json=body)
    assert CANARY not in reply.text
    return reply.status_code, reply.json(), server.received


async def test_a_model_writes_the_rows_of_a_curriculum(database: Database) -> None:
    asked: list[int] = []

    def write(_: ReceivedRequest) -> Reply:
        asked.append(len(asked))
        first = 12 * (len(asked) - 1)
        doubled = {"task": "  " + task(first)["task"].upper() + "!", "difficulty": 5}
        nothing = [{"task": "", "difficulty": 1}, {"task": "x", "difficulty": 6}, 5]
        return scenarios(*(task(first + n) for n in range(12)), doubled, *nothing)

    status, reply, received = await generated(
        database, write, validation_tasks=10, instructions="About keys.", system_prompt="Be brief."
    )
    assert status == 200, reply
    rows = reply["curriculum"]
    assert (len(rows["training"]), len(rows["validation"])) == (10, 10)
    written = {row["messages"][1]["content"]: row for part in rows.values() for row in part}
    assert written.keys() == {task(number)["task"] for number in range(20)}
    for number in range(20):
        row = written[task(number)["task"]]
        assert row["messages"][0] == {"role": "system", "content": "Be brief."}
        assert (row["difficulty"], row["tools"]) == (number % 5 / 4, [LOOKUP])
    for part in rows.values():
        assert {row["difficulty"] for row in part} == {0, 0.25, 0.5, 0.75, 1}
    assert (reply["complete"], reply["faults"]) == (True, [])
    assert (reply["duplicates"], reply["unusable"], reply["questions"]) == (2, 6, 2)
    assert (reply["prompt_tokens"], reply["completion_tokens"]) == (14, 6)
    first, second = (each.json["messages"][1]["content"] for each in received)
    assert "About keys." in first
    assert first.count("</tools>") == 1, "what a tool says cannot end its block"
    assert task(0)["task"] in second
    assert received[0].headers["authorization"] == f"Bearer {CANARY}"
    assert received[0].json["response_format"]["json_schema"]["strict"] is True


async def test_the_rows_are_the_curriculum_of_a_job(database: Database) -> None:
    def write(received: ReceivedRequest) -> Reply:
        if received.path.endswith("/chat/completions"):
            return scenarios(*map(task, range(20)))
        return Reply(json={"score": 1})

    async with endpoint(write) as server, running(database, server.host_port) as api:
        generator = {"model": "writer", "base_url": server.url("/v1")}
        body = {"tools": [LOOKUP], "generator": generator, "training_tasks": 10}
        written = (await api.call("POST", PATH, json=body)).json()["curriculum"]
        method = {
            "tools": [{"name": "lookup", "server_url": server.url("/lookup")}],
            "grader": {"type": "endpoint", "url": server.url("/grade")},
        }
        call = {
            "model": "tiny-agent",
            "curriculum": written,
            "method": {"type": "reinforcement", "reinforcement": method},
        }
        job = await api.call("POST", JOBS, json=call)
        assert job.status_code == 200, job.text
        training = {**written, "validation": []}
        refused = await api.call("POST", JOBS, json={**call, "curriculum": training})
        assert refused.json()["error"]["param"] == "curriculum.validation", refused.text
        content = await api.call("GET", f"/v1/files/{job.json()['training_file']}/content")
    assert [json.loads(line) for line in content.text.splitlines()] == written["training"]


async def test_what_a_model_wrote_before_it_failed_is_returned_with_the_reason(
    database: Database,
) -> None:
    spent = Reply(401, json={"error": {"message": "spent"}})
    answers = iter([scenarios(*map(task, range(6)))])
    status, reply, _ = await generated(
        database, lambda _: next(answers, spent), training_tasks=10, validation_tasks=10
    )
    assert status == 200, reply
    assert [len(part) for part in reply["curriculum"].values()] == [3, 3]
    assert reply["complete"] is False
    assert "401" in reply["faults"][0]
    assert reply["faults"][1:] == [
        f"'{part}' has 3 rows, and a job needs 10 in a file" for part in ("training", "validation")
    ]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (lambda _: completion("Sure! Here are some tasks."), "the answer is not JSON, twice"),
        (lambda _: completion('{"tasks": []}'), 'not a JSON object with a list "scenarios"'),
        (lambda _: scenarios(), "wrote nothing new in 2 answers"),
        (lambda _: Reply(404, json={"error": {"message": "no such model"}}), "404"),
    ],
    ids=["prose", "other_form", "nothing", "refused"],
)
async def test_a_model_that_writes_no_scenario_is_an_error_with_its_reason(
    database: Database, script: Script, words: str
) -> None:
    status, reply, received = await generated(database, script)
    error = reply["error"]
    assert (status, error["param"], error["code"]) == (
        400, "generator.model", "scenario_model_failed",
    ), error  # fmt: skip
    assert words in error["message"]
    assert len(received) <= 2


async def test_an_answer_that_cannot_be_read_is_requested_once_more(database: Database) -> None:
    block = json.dumps({"scenarios": [task(number) for number in range(20)]})
    answers = [completion("no"), completion(f"```json\n{block}\n```")]
    status, reply, received = await generated(database, lambda _: answers.pop(0))
    assert (status, reply["questions"], reply["complete"]) == (200, 2, True)
    assert "the answer is not JSON" in received[1].json["messages"][-1]["content"]


async def test_the_entries_of_an_answer_that_are_read_are_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared, checked = list[str](), list[Any]()
    likeness, tool_faults = fuzz.ratio, function_tools._tool_faults

    def counted(text: str, other: str, *, score_cutoff: float) -> float:
        compared.append(threading.current_thread().name)
        return likeness(text, other, score_cutoff=score_cutoff)

    def counted_check(tool: Any, pointer: Any) -> Any:
        checked.append(tool)
        return tool_faults(tool, pointer)

    monkeypatch.setattr(fuzz, "ratio", counted)
    monkeypatch.setattr(function_tools, "_tool_faults", counted_check)
    entries: list[Any] = [
        {"task": f"Sum {chr(97 + at % 26) * 9}", "difficulty": 1} for at in range(2000)
    ]
    entries[15:20] = [5, 5, 5, 5, 5]
    status, reply, received = await generated(database, lambda _: scenarios(*entries))
    rows = sum(len(part) for part in reply["curriculum"].values())
    assert (status, len(received), rows, reply["unusable"]) == (200, 3, 15, 15), reply
    assert reply["duplicates"] == 30
    assert 0 < len(compared) <= 15 * 14 / 2 + 30 * 15
    assert threading.main_thread().name not in compared
    assert checked == [LOOKUP]


async def test_rows_that_repeat_large_tools_are_refused_before_a_model_is_called(
    database: Database,
) -> None:
    large = {**LOOKUP, "function": {**LOOKUP["function"], "description": "d" * 40_000}}
    status, reply, received = await generated(
        database, lambda _: scenarios(), tools=[large], training_tasks=500
    )
    assert (status, reply["error"]["param"], received) == (400, "tools", [])
    assert "ask for fewer rows" in reply["error"]["message"]


async def test_the_calls_of_a_project_that_write_at_once_are_bounded(database: Database) -> None:
    asked, answer = asyncio.Semaphore(0), asyncio.Event()

    async def write(_: ReceivedRequest) -> Reply:
        asked.release()
        await answer.wait()
        return scenarios(*map(task, range(20)))

    async with endpoint(write) as server, running(database, server.host_port) as api:
        generator = {"model": "writer", "base_url": server.url("/v1")}
        body = {"tools": [LOOKUP], "generator": generator, "training_tasks": 10}
        first = [asyncio.create_task(api.call("POST", PATH, json=body)) for _ in range(2)]
        for _ in first:
            await asked.acquire()
        refused = await api.call("POST", PATH, json=body)
        answer.set()
        assert [reply.status_code for reply in await asyncio.gather(*first)] == [200, 200]
        assert (refused.status_code, len(server.received)) == (429, 2)
        again = await api.call("POST", PATH, json=body)
        assert again.status_code == 200, again.text


@cases(
    ("change", "param"),
    [
        ({"tools": []}, "tools"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"training_tasks": 9}, "training_tasks"),
        ({"generator": {"model": "nobody"}}, "generator.model"),
        ({"generator": {"model": "a", "headers": {"X": "y"}}}, "generator.headers"),
        ({"generator": {"model": "a", "base_url": "http://10.0.0.1/v1"}}, "generator.base_url"),
        ({"tasks": 5}, "tasks"),
    ],
)
async def test_a_wrong_call_is_refused_with_its_path(
    api: Api, change: dict[str, Any], param: str
) -> None:
    body = {"tools": [LOOKUP], "generator": {"model": "tiny-agent"}, **change}
    reply = await api.call("POST", PATH, json=body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
