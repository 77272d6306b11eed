"""Trial calls of tools over HTTP, against scripted endpoints on real sockets."""

from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, Script, endpoint
from tests.support.registry.trials import serving
from tests.support.stack import Database

TOOL = "/v1/fine_tuning/alpha/tool/run"


def call(server: EndpointServer, **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "name": "search",
        "server_url": server.url(),
        "headers": {"X-Key": "k"},
        "arguments": '{"q": "x"}',
        "item": {"n": 1},
        "trace_id": "trace_1",
        "id": "fc_1",
        "call_id": "call_1",
        **more,
    }


async def run_tool(
    database: Database, script: Script, *, call_timeout_s: float = 3.0, **more: Any
) -> tuple[dict[str, Any], list[ReceivedRequest], str]:
    async with (
        endpoint(script) as server,
        serving(database, server, call_timeout_s=call_timeout_s) as trials,
    ):
        reply = await trials._http.post(TOOL, json=call(server, **more))
        secret = await trials.secret()
    return {"status": reply.status_code, **reply.json()}, server.received, secret


async def test_a_tool_is_called_as_in_training(database: Database) -> None:
    answer, (request,), secret = await run_tool(
        database, lambda _: Reply(json={"output": "found", "id": "fc_1"})
    )
    assert answer.pop("latency_s") > 0
    assert answer == {
        "status": 200,
        "type": "function_call_output",
        "id": "fc_1",
        "call_id": "call_1",
        "output": "found",
        "error": None,
        "attempts": 1,
    }
    assert request.json == {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "search",
        "arguments": '{"q": "x"}',
        "trace_id": "trace_1",
        "item": {"n": 1},
    }
    assert request.headers["x-key"] == "k"
    assert request.headers["idempotency-key"] == "call_1"
    Webhook(secret).verify(request.body, request.headers)


async def test_ids_that_were_not_sent_are_made(database: Database) -> None:
    answer, (request,), _ = await run_tool(
        database, lambda _: Reply(json={"output": ""}), id=None, call_id=None, trace_id=None
    )
    assert request.json["id"] == answer["id"] != answer["call_id"] == request.json["call_id"]
    assert request.json["trace_id"].startswith("trace_")


@pytest.mark.parametrize(
    ("reply", "output", "error"),
    [
        (Reply(404, {"output": "no such row"}), "no such row", "http_404"),
        (Reply(400, body=b"bad query"), "Error: 400 bad query", "http_400"),
        (Reply(json={"output": "Error: nothing"}), "Error: nothing", "tool_reported"),
        (
            Reply(body=b"x" * 1_048_577),
            "Error: 413 the tool's reply is larger than 1 MB.",
            "too_large",
        ),
    ],
)
async def test_what_a_model_would_read_is_shown(
    database: Database, reply: Reply, output: str, error: str
) -> None:
    answer, _, _ = await run_tool(database, lambda _: reply)
    assert (answer["status"], answer["output"], answer["error"]) == (200, output, error)


async def test_a_request_over_1_mb_never_leaves(database: Database) -> None:
    answer, received, _ = await run_tool(database, lambda _: Reply(), arguments="x" * 1_048_577)
    assert answer["output"] == "Error: 413 the arguments are larger than 1 MB."
    assert (answer["attempts"], received) == (0, [])


@pytest.mark.parametrize(
    ("reply", "code", "part"),
    [
        (Reply(500), "tool_error", "failed after 2 attempts: answered 500"),
        (Reply(json={"result": 1}), "tool_bad_reply", "without a text `output`"),
        (Reply(302, headers={"Location": "/x"}), "tool_bad_reply", "answered 302"),
        (Reply(json={"output": "late"}, delay_s=60), "tool_timeout", "no reply within"),
    ],
)
async def test_what_would_cost_a_rollout_is_an_error_in_the_envelope(
    database: Database, reply: Reply, code: str, part: str
) -> None:
    limit_s = 0.5 if code == "tool_timeout" else 3.0
    answer, _, _ = await run_tool(database, lambda _: reply, call_timeout_s=limit_s)
    assert answer["status"] == 400
    assert answer["error"]["code"] == code
    assert part in answer["error"]["message"]
    assert answer["error"]["param"] == "server_url"


@pytest.mark.parametrize(
    ("changes", "param", "code"),
    [
        ({"server_url": "http://169.254.169.254/"}, "server_url", "endpoint_not_allowed"),
        ({"headers": {"Host": "x"}}, "headers", "endpoint_not_allowed"),
        ({"name": "no spaces"}, "name", "invalid_value"),
        ({"call_id": "a\r\nb"}, "call_id", "invalid_value"),
        ({"auth": {"token": "t"}}, "auth", "not_available"),
        ({"extra": []}, "extra", "unknown_parameter"),
    ],
)
async def test_a_call_that_cannot_be_made_is_refused(
    database: Database, changes: dict[str, Any], param: str, code: str
) -> None:
    answer, received, _ = await run_tool(database, lambda _: Reply(), **changes)
    assert (answer["error"]["param"], answer["error"]["code"]) == (param, code)
    assert received == []


async def test_a_tools_other_keys_are_accepted_and_sent_nowhere(database: Database) -> None:
    tool: dict[str, Any] = {
        "description": "Finds.",
        "parameters": {"type": "object"},
        "rate_limit": 5,
        "note": "n",
    }
    answer, (request,), _ = await run_tool(database, lambda _: Reply(json={"output": "o"}), **tool)
    assert (answer["status"], answer["output"]) == (200, "o")
    assert request.json == {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "search",
        "arguments": '{"q": "x"}',
        "trace_id": "trace_1",
        "item": {"n": 1},
    }
