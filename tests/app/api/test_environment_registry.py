"""The registry of environments, and the test that plays an episode of one turn."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.kit.fields import Json
from tests.support.api.application import ENDPOINT, Api
from tests.support.cases import cases
from tests.support.endpoints import ReceivedRequest, Reply
from tests.support.environments.http_environments import GUESS, GuessingWorld
from tests.support.registry.environments import CANARY, REGISTRY, registered, report_of, statuses
from tests.support.stack import Database


async def test_an_update_moves_no_secret_to_another_address(api: Api) -> None:
    made = await registered(api)
    moved = {"url": f"{ENDPOINT}/other", "headers": {"X-K": "[redacted]"}}
    reply = await api.call("POST", f"{REGISTRY}/{made['id']}", json=moved)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == "headers"
    same = await api.call("POST", f"{REGISTRY}/{made['id']}", json=made)
    assert same.status_code == 200, same.text
    assert same.json()["version"] == 2


@cases(
    ("sent", "param"),
    [
        ({"name": "w"}, "url"),
        ({"name": "a b", "url": ENDPOINT}, "name"),
        ({"name": "gsm8k", "url": ENDPOINT}, "name"),
        ({"name": "w", "url": "http://10.0.0.1/"}, "url"),
        ({"name": "w", "url": ENDPOINT, "type": "mcp"}, "type"),
        ({"name": "w", "url": ENDPOINT, "options": {"a": 1}}, "options"),
    ],
)
async def test_a_wrong_registration_is_refused(api: Api, sent: Json, param: str) -> None:
    reply = await api.call("POST", REGISTRY, json=sent)
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("messages", "param", "code"),
    [
        (5, "task.messages", "invalid_type"),
        ([], "task.messages", "empty_array"),
        (["hi"], "task.messages[0]", "invalid_type"),
        ([{"role": "user"}], "task.messages[0].content", "missing_required_parameter"),
    ],
)
async def test_a_test_refuses_messages_that_no_row_may_have(
    api: Api, messages: Any, param: str, code: str
) -> None:
    made = await registered(api)
    sent = {"task": {"messages": messages}}
    reply = await api.call("POST", f"{REGISTRY}/{made['id']}/test", json=sent)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert (error["param"], error["code"]) == (param, code)


async def test_names_lists_and_tenants_are_those_of_the_registry(api: Api) -> None:
    made = await registered(api)
    again = await api.call("POST", REGISTRY, json={"name": "world", "url": ENDPOINT})
    assert again.json()["error"]["code"] == "name_taken"
    other = await registered(api, name="other", note="hm")
    assert [each["param"] for each in other["warnings"]] == ["note"]
    renamed = await api.call("POST", f"{REGISTRY}/{other['id']}", json={"name": "arithmetic"})
    assert renamed.json()["error"]["code"] == "name_taken"
    listed = (await api.call("GET", REGISTRY)).json()["data"]
    assert [each["id"] for each in listed] == [other["id"], made["id"]]
    versions = (await api.call("GET", f"{REGISTRY}/{made['id']}/versions")).json()["data"]
    assert [each["version"] for each in versions] == [1]
    calls = (
        ("GET", ""), ("POST", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/versions"),
    )  # fmt: skip
    for method, path in calls:
        sent: Json = {"json": {}} if method == "POST" else {}
        url = f"{REGISTRY}/{made['id']}{path}"
        reply = await api.call(method, url, key=api.other_key, **sent)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "environment_not_found")


async def test_a_test_plays_one_turn_and_shows_it(database: Database) -> None:
    world = GuessingWorld()
    report, received = await report_of(database, world, task={"secret": 1}, seed=3)
    assert (report["passed"], set(statuses(report))) == (True, {"passed"}), report
    assert [each["call"] for each in report["exchanges"]] == [
        "reset", "step", "step again", "close",
    ]  # fmt: skip
    assert [each["sent"] for each in report["exchanges"]] == [each.json for each in received]
    assert received[0].json["seed"] == 3
    # The call is made up from the schema of the first tool that the answer offers.
    (call,) = world.of("step")[0]["message"]["tool_calls"]
    assert call["function"] == {"name": "guess", "arguments": '{"n": 1}'}
    answered = json.loads(report["exchanges"][1]["answered"])
    assert (answered["done"], answered["reward"]) == (True, 1.0)
    assert world.keys[1] == world.keys[2]


async def test_a_test_plays_a_turn_of_what_the_environment_offers(database: Database) -> None:
    world = GuessingWorld(tools=False)
    report, _ = await report_of(database, world)
    assert (report["passed"], set(statuses(report))) == (True, {"passed"}), report
    assert world.of("step")[0]["message"] == {"role": "assistant", "content": "This is a test."}


async def test_a_test_calls_a_tool_of_the_task_where_the_episode_names_none(
    database: Database,
) -> None:
    def without_tools(call: Json, _: ReceivedRequest) -> Reply | None:
        world.episodes["e9"] = 1
        return Reply(json={"episode_id": "e9"}) if call["type"] == "reset" else None

    world = GuessingWorld(instead=without_tools)
    task = {"messages": [{"role": "user", "content": "hi"}], "tools": [GUESS]}
    await report_of(database, world, task=task)
    (call,) = world.of("step")[0]["message"]["tool_calls"]
    assert call["function"] == {"name": "guess", "arguments": '{"n": 1}'}


async def test_a_test_sends_the_turn_that_it_is_given(database: Database) -> None:
    world = GuessingWorld()
    report, _ = await report_of(database, world, task={"secret": 9}, content="I say 4.")
    assert report["passed"] is True
    assert world.of("step")[0]["message"] == {"role": "assistant", "content": "I say 4."}


async def test_a_test_closes_what_it_did_not_hear_of_and_shows_no_credential(
    database: Database,
) -> None:
    bad = Reply(json={"episode_id": "e7", "messages": CANARY})
    world = GuessingWorld(instead=lambda call, _: bad if call["type"] == "reset" else None)
    report, _ = await report_of(database, world)
    assert statuses(report) == ["failed", "skipped", "skipped", "passed", "passed"]
    assert [call["episode_id"] for call in world.closed] == ["e7"]
    answered = json.loads(report["exchanges"][0]["answered"])
    assert answered == {"episode_id": "e7", "messages": "[redacted]"}


@pytest.mark.parametrize(
    ("instead", "expected", "part"),
    [
        ({"reset": Reply(500)}, ["failed", *["skipped"] * 2, "passed", "passed"], "answered 500"),
        ({"step": Reply(json={"reward": 1})}, ["passed", "failed", "skipped", "passed", "passed"],
         "`done`"),
        ({"step": Reply(json={"done": True})}, ["passed", "warned", "passed", "passed", "passed"],
         "without another grader"),
        ({"close": Reply(500)}, ["passed", "passed", "passed", "warned", "passed"],
         "answered 500"),
        ({"step": Reply(body=b"x" * 2_000_000)},
         ["passed", "failed", "skipped", "passed", "passed"], "larger than"),
    ],
)  # fmt: skip
async def test_a_test_finds_what_would_lose_rollouts(
    database: Database, instead: dict[str, Reply], expected: list[str], part: str
) -> None:
    world = GuessingWorld(instead=lambda call, _: instead.get(call["type"]))
    report, _ = await report_of(database, world, task={"secret": 1})
    assert statuses(report) == expected, report
    assert report["passed"] is ("failed" not in expected)
    reported = " ".join(
        c["detail"] for c in report["checks"] if c["status"] in ("failed", "warned")
    )
    assert part in reported


KEY = json.dumps("\x1b[31m" + "canary-key" * 50)[1:-1]
"""A long key with control characters, as JSON has it."""


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("reset", f'{{"episode_id": "e", "{KEY}": 1}}', "warned"),
        ("reset", f'{{"episode_id": "e", "messages": [{{"role": "user", "{KEY}": 1}}]}}', "failed"),
        ("step", f'{{"done": true, "components": {{"{KEY}": 1}}}}', "failed"),
    ],
)
async def test_a_key_of_an_answer_is_repeated_in_short_and_without_control_characters(
    database: Database, *, kind: str, body: str, status: str
) -> None:
    reply = Reply(body=body.encode())
    world = GuessingWorld(instead=lambda call, _: reply if call["type"] == kind else None)
    report, _ = await report_of(database, world, task={"secret": 1})
    (check,) = [one for one in report["checks"] if one["name"] == kind]
    assert check["status"] == status, check
    assert check["detail"].count("canary-key") <= 8
    assert "\x1b" not in check["detail"]
    assert ("\ufffd[31mcanary" in check["detail"]) == (status == "warned")


async def test_a_test_notices_a_step_that_is_played_twice(database: Database) -> None:
    counted = iter(range(9))
    world = GuessingWorld(
        instead=lambda call, _: (
            Reply(json={"done": True, "reward": next(counted)}) if call["type"] == "step" else None
        )
    )
    report, _ = await report_of(database, world, task={"secret": 1})
    assert statuses(report)[2] == "warned"


async def test_a_test_ends_where_informational_replies_do_not(database: Database) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"HTTP/1.1 100 Continue\r\n\r\n" * 1000

    report, _ = await report_of(database, lambda _: endless())
    assert statuses(report) == ["failed", "skipped", "skipped", "warned", "passed"]
    assert "more than 8 informational replies" in report["checks"][0]["detail"]
