"""Credentials that an environment repeats in its answers, and what the service shows of them."""

import json

import pytest

from app.kit.fields import Json
from app.kit.redaction import REDACTED
from tests.support.api.application import running
from tests.support.endpoints import ReceivedRequest, Reply, endpoint
from tests.support.environments.http_environments import GuessingWorld
from tests.support.registry.environments import CANARY, REGISTRY, report_of
from tests.support.stack import Database

_TOOL = {"type": "function", "function": {"name": CANARY, "parameters": {"type": "object"}}}


def answering(kind: str, answer: Json) -> GuessingWorld:
    """Returns an environment whose answers to calls of one kind are this one."""
    reply = Reply(json=answer)
    return GuessingWorld(instead=lambda call, _: reply if call["type"] == kind else None)


@pytest.mark.parametrize(
    ("kind", "answer", "said"),
    [
        ("reset", {"episode_id": "e", f"{'k' * 70}{CANARY}": 1}, f"`{'k' * 70}{REDACTED}`"),
        ("reset", {"episode_id": "e", "tools": [_TOOL, _TOOL]}, "listed twice"),
        ("step", {"done": True, "components": {CANARY: "a"}}, "`components`: "),
        ("step", {"done": False, "results": [{"call_id": CANARY, "content": ""}]}, "`call_id`"),
    ],
)
async def test_a_check_of_a_test_repeats_no_credential(
    database: Database, *, kind: str, answer: Json, said: str
) -> None:
    # `report_of` looks for the credential in the whole report.
    report, _ = await report_of(database, answering(kind, answer), task={"secret": 1})
    (check,) = [one for one in report["checks"] if one["name"] == kind]
    assert said in check["detail"]
    assert CANARY[:12] not in json.dumps(report)


async def test_a_test_shows_no_credential_that_is_in_the_episodes_id(database: Database) -> None:
    world = answering("reset", {"episode_id": f"e-{CANARY}"})
    report, received = await report_of(database, world)
    sent = [each["sent"].get("episode_id") for each in report["exchanges"]]
    assert sent[0] is None
    assert set(sent[1:]) == {f"e-{REDACTED}"}
    # The environment gets the id that it gave.
    assert {each.json.get("episode_id") for each in received[1:]} == {f"e-{CANARY}"}


@pytest.mark.parametrize(
    ("registry", "field", "status", "plan"),
    [
        (REGISTRY, "url", 200, {}),
        ("/v1/tools", "server_url", 400, {"requests": 1}),
    ],
)
async def test_no_part_of_a_credential_is_left_where_an_answer_is_cut(
    database: Database, *, registry: str, field: str, status: int, plan: Json
) -> None:
    key = "canary7f3a" * 10
    body = f"{key} ".encode() * 1000

    def serve(received: ReceivedRequest) -> Reply:
        before = int(received.path.removeprefix("/"))
        return Reply(status, body=b"." * before + b" " + body)

    async with endpoint(serve) as server, running(database, server.host_port) as api:
        for before in (1, 31, 61):
            sent = {"name": f"n{before}", field: server.url(f"/{before}"), "headers": {"X-K": key}}
            made = await api.call("POST", registry, json=sent)
            reply = await api.call("POST", f"{registry}/{made.json()['id']}/test", json=plan)
            assert reply.status_code == 200, reply.text
            assert REDACTED in reply.text
            assert key[:8] not in reply.text
