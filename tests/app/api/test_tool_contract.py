import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.support.api.application import Api, running
from tests.support.endpoints import ReceivedRequest, Reply, Script, endpoint
from tests.support.stack import Database

PARAMETERS = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "n": {"type": "integer", "minimum": 3}},
    "required": ["q", "n"],
}
CHECKS = [
    "shape", "malformed_arguments", "unknown_tool", "idempotency", "latency", "request_over_1mb",
    "reply_over_1mb", "signature",
]  # fmt: skip


def answer(received: ReceivedRequest) -> dict[str, Any]:
    """A good tool: reports mistakes as text, echoes ids, answers a repeated call alike."""
    call = received.json
    output = f"found for {call['call_id']}"
    if call["name"] != "search":
        output = f"Error: there is no tool {call['name']}"
    else:
        try:
            json.loads(call["arguments"])
        except ValueError:
            output = "Error: the arguments are not JSON"
    return {"output": output, "call_id": call["call_id"], "id": call["id"]}


def good(received: ReceivedRequest) -> Reply:
    return Reply(json=answer(received))


async def report_of(
    database: Database, script: Script, *, tool: dict[str, Any] | None = None, **plan: Any
) -> tuple[dict[str, Any], list[ReceivedRequest], Api]:
    """Returns the report of a test, and the requests that reached the endpoint."""
    async with endpoint(script) as server, running(database, server.host_port) as api:
        definition = {"name": "search", "server_url": server.url(), "parameters": PARAMETERS}
        made = await api.call("POST", "/v1/tools", json={**definition, **(tool or {})})
        plan = {"requests": 4, "rate": 50, **plan}
        reply = await api.call("POST", f"/v1/tools/{made.json()['id']}/test", json=plan)
        assert reply.status_code == 200, reply.text
        report = reply.json()
        assert report["tool_id"] == made.json()["id"]
        secret = (await api.call("GET", "/v1/signing_secret")).json()["secret"]
    for received in server.received:
        Webhook(secret).verify(received.body, received.headers)
    assert [check["name"] for check in report["checks"]] == CHECKS
    assert report["calls"] == len(server.received)
    return report, server.received, api


def statuses(report: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["status"] for check in report["checks"]}


def check_of(report: dict[str, Any], name: str) -> dict[str, Any]:
    checks: dict[str, dict[str, Any]] = {check["name"]: check for check in report["checks"]}
    return checks[name]


async def test_a_good_tool_passes_every_check(database: Database) -> None:
    headers = {"X-Key": "canary-5d21"}
    report, received, _ = await report_of(
        database, good, tool={"headers": headers}, item={"city": "Ulm"}
    )
    assert report["passed"] is True
    assert set(statuses(report).values()) == {"passed"}, report
    assert "canary" not in json.dumps(report)
    # Shape, two mistakes, one call twice, four measured calls; a call too large is not sent.
    assert len(received) == 1 + 2 + 2 + 4
    assert {request.headers["x-key"] for request in received} == {"canary-5d21"}
    assert {json.dumps(request.json["item"]) for request in received} == {'{"city": "Ulm"}'}
    assert json.loads(received[0].json["arguments"]) == {"q": "test", "n": 3}
    assert check_of(report, "shape")["model_sees"] == f"found for {received[0].json['call_id']}"
    assert "not JSON" in check_of(report, "malformed_arguments")["model_sees"]
    assert received[2].json["name"].startswith("no_such_tool_")
    twice = received[3:5]
    assert twice[0].body == twice[1].body
    assert len({request.headers["idempotency-key"] for request in twice}) == 1
    assert len({request.headers["webhook-id"] for request in received}) == 1 + 2 + 1 + 4
    latency = check_of(report, "latency")
    assert (latency["sent"], latency["answered"], latency["rate"]) == (4, 4, 50)
    assert 0 < latency["p50_ms"] <= latency["p95_ms"] <= latency["p99_ms"] <= latency["max_ms"]
    large = check_of(report, "request_over_1mb")
    assert large["model_sees"].startswith("Error: 413")


async def test_a_report_shows_no_credential_that_the_endpoint_repeats(database: Database) -> None:
    token = "canary-token-5d21"

    def leaking(received: ReceivedRequest) -> Reply:
        said = f"{answer(received)['output']}: Bearer {token} or {token}"
        return Reply(json={**answer(received), "output": said})

    headers = {"Authorization": f"Bearer {token}"}
    report, _, _ = await report_of(database, leaking, tool={"headers": headers})
    seen = check_of(report, "shape")["model_sees"]
    assert seen.endswith(": [redacted] or [redacted]")
    outputs = check_of(report, "idempotency")["outputs"]
    assert [output.partition(": ")[2] for output in outputs] == ["[redacted] or [redacted]"] * 2
    told = json.dumps(report)
    assert "canary-token" not in told
    assert token not in told.lower()


async def test_given_arguments_are_sent_as_they_are(database: Database) -> None:
    report, received, _ = await report_of(database, good, arguments={"q": "é", "n": 9}, requests=1)
    assert report["passed"] is True
    assert json.loads(received[0].json["arguments"]) == {"q": "é", "n": 9}


async def test_calls_are_started_at_the_stated_rate_however_slow_the_tool(
    database: Database,
) -> None:
    earlier, measured = 5, 6
    count = 0
    all_sent = asyncio.Event()

    async def slow(received: ReceivedRequest) -> Reply:
        """Answers the measured calls once all are sent, which never happens one after the other."""
        nonlocal count
        count += 1
        if count == earlier + measured:
            all_sent.set()
        if count > earlier:
            await all_sent.wait()
        return Reply(json=answer(received))

    report, received, _ = await report_of(database, slow, requests=measured, rate=20)
    assert len(received) == earlier + measured
    assert received[-1].at - received[earlier].at >= 0.2  # the last one is due after 0.25 s
    assert check_of(report, "latency")["max_ms"] >= 200  # the first one is answered after the last
    assert report["passed"] is True


async def test_a_declared_rate_is_not_exceeded(database: Database) -> None:
    report, received, _ = await report_of(database, good, tool={"rate_limit": 10}, requests=4)
    assert check_of(report, "latency")["rate"] == 10
    assert received[-1].at - received[-4].at >= 0.25


@pytest.mark.parametrize("status", [500, 429])
async def test_a_5xx_fails_every_call_once_without_retries(database: Database, status: int) -> None:
    report, received, _ = await report_of(database, lambda _: Reply(status), requests=2)
    seen = statuses(report)
    assert report["passed"] is False
    assert {name for name, state in seen.items() if state == "failed"} == {
        "shape", "malformed_arguments", "unknown_tool", "idempotency", "latency",
    }  # fmt: skip
    assert check_of(report, "shape")["status"] == "failed"
    assert f"answered {status}" in check_of(report, "shape")["detail"]
    assert check_of(report, "latency")["faults"] == [f"answered {status}"]
    assert {request.headers["x-attempt"] for request in received} == {"1"}
    assert len(received) == 1 + 2 + 1 + 2


async def test_a_crash_on_mistakes_only_is_found(database: Database) -> None:
    def fragile(received: ReceivedRequest) -> Reply:
        return Reply(500) if answer(received)["output"].startswith("Error") else good(received)

    report, _, _ = await report_of(database, fragile)
    failed = [name for name, state in statuses(report).items() if state == "failed"]
    assert failed == ["malformed_arguments", "unknown_tool"]


async def test_mistakes_that_are_answered_with_4xx_are_shown_to_the_model(
    database: Database,
) -> None:
    def strict(received: ReceivedRequest) -> Reply:
        output = answer(received)["output"]
        return Reply(422, {"detail": output}) if output.startswith("Error") else good(received)

    report, _, _ = await report_of(database, strict)
    assert report["passed"] is True
    check = check_of(report, "malformed_arguments")
    assert (check["status"], check["error"]) == ("passed", "http_422")
    assert check["model_sees"].startswith('Error: 422 {"detail"')


async def test_a_tool_that_never_minds_is_warned_of(database: Database) -> None:
    counter = itertools.count()
    report, _, _ = await report_of(database, lambda _: Reply(json={"output": f"n{next(counter)}"}))
    seen = statuses(report)
    assert report["passed"] is True
    assert [name for name, state in seen.items() if state == "warned"] == [
        "malformed_arguments", "unknown_tool", "idempotency",
    ]  # fmt: skip
    assert len(set(check_of(report, "idempotency")["outputs"])) == 2


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        (lambda _: Reply(json={"result": "x"}), "without a text `output`"),
        (lambda _: Reply(body=b"<html>"), "without a text `output`"),
        (lambda _: Reply(302, headers={"Location": "/x"}), "answered 302"),
        (lambda _: Reply(json={"output": "x", "call_id": "call_other"}), "`call_id`"),
    ],
)
async def test_a_wrong_shape_is_reported(database: Database, script: Script, detail: str) -> None:
    report, _, _ = await report_of(database, script, requests=1)
    check = check_of(report, "shape")
    assert (check["status"], report["passed"]) == ("failed", False)
    assert detail in check["detail"]


async def test_an_error_for_the_sent_arguments_is_a_warning(database: Database) -> None:
    report, _, _ = await report_of(
        database, lambda _: Reply(json={"output": "Error: q is unknown"})
    )
    assert statuses(report)["shape"] == "warned"
    assert report["passed"] is True


async def test_a_reply_over_1_mb_reads_as_413(database: Database) -> None:
    report, _, _ = await report_of(database, lambda _: Reply(body=b"x" * 1_048_577), requests=1)
    check = check_of(report, "reply_over_1mb")
    assert (check["status"], check["replies_over_1mb"]) == ("warned", 6)
    assert check_of(report, "shape")["model_sees"].startswith("Error: 413")


async def test_the_largest_reply_is_measured(database: Database) -> None:
    body = json.dumps({"output": "x" * 900_000}).encode()
    report, _, _ = await report_of(database, lambda _: Reply(body=body), requests=1)
    check = check_of(report, "reply_over_1mb")
    assert (check["status"], check["largest_reply_bytes"]) == ("passed", len(body))
    assert len(check_of(report, "shape")["model_sees"]) < 3000


async def test_a_refused_connection_ends_the_test_at_once(database: Database) -> None:
    async def nothing() -> AsyncIterator[bytes]:
        yield b""

    report, received, _ = await report_of(database, lambda _: nothing())
    assert len(received) == 1
    assert statuses(report) == {
        "shape": "failed", "malformed_arguments": "skipped", "unknown_tool": "skipped",
        "idempotency": "skipped", "latency": "skipped", "request_over_1mb": "passed",
        "reply_over_1mb": "skipped", "signature": "passed",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "param"),
    [
        ({"requests": 201}, "requests"),
        ({"rate": 0}, "rate"),
        ({"requests": 200, "rate": 1}, "rate"),
    ],
)
async def test_a_plan_out_of_bounds_makes_no_call(
    database: Database, plan: dict[str, Any], param: str
) -> None:
    async with endpoint(good) as server, running(database, server.host_port) as api:
        definition = {"name": "search", "server_url": server.url()}
        made = (await api.call("POST", "/v1/tools", json=definition)).json()
        reply = await api.call("POST", f"/v1/tools/{made['id']}/test", json=plan)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
    assert server.received == []


async def test_a_project_tests_no_more_than_two_tools_at_once(database: Database) -> None:
    async with (
        endpoint(lambda _: Reply(json={"output": "x"}, delay_s=0.2)) as server,
        running(database, server.host_port) as api,
    ):
        definition = {"name": "search", "server_url": server.url()}
        made = (await api.call("POST", "/v1/tools", json=definition)).json()
        path, plan = f"/v1/tools/{made['id']}/test", {"requests": 1, "rate": 50}
        calls = [api.call("POST", path, json=plan) for _ in range(3)]
        replies = sorted(await asyncio.gather(*calls), key=lambda reply: reply.status_code)
    assert [reply.status_code for reply in replies] == [200, 200, 429]
    assert replies[2].headers["retry-after"] == "10"
