from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from examples.records_agent.faults import Faults
from examples.records_agent.records import build_catalogue
from examples.records_agent.server import Options
from tests.support.patience import PATIENCE_S, wait_for

ROOT = Path(__file__).parents[3]
CATALOGUE = build_catalogue()
PART = next(r for r in CATALOGUE.records if r.startswith("P"))
PRICE = CATALOGUE.records[PART]["price"]
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def tool_call(name: str, arguments: dict[str, Any], *, n: int = 1, trace: str = "trace_a") -> Any:
    return {
        "type": "function_call",
        "id": f"fc_{n}",
        "call_id": f"call_{n}",
        "name": name,
        "arguments": json.dumps(arguments),
        "trace_id": trace,
        "item": {},
    }


def price_call(n: int = 1, trace: str = "trace_a") -> Any:
    return tool_call("lookup", {"record": PART, "field": "price"}, n=n, trace=trace)


def grade_body(text: str, answer: str, tools: list[str], trace: str = "trace_a") -> Any:
    message = {"role": "assistant", "content": text, "tool_calls": []}
    return {
        "sample": {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "output_text": text,
            "output_json": None,
            "output_tools": [],
            "output_reasoning_summary": None,
        },
        "item": {"messages": [], "reference_answer": answer, "reference_tools": tools},
        "trace_id": trace,
    }


def score(client: httpx.Client, text: str, answer: str, tools: list[str]) -> tuple[float, float]:
    reply = client.post("/grade", json=grade_body(text, answer, tools))
    assert reply.status_code == 200
    return reply.json()["score"], reply.json()["metrics"]["wasted_calls"]


def test_a_tool_call_answers_in_the_hosted_shape(client: httpx.Client) -> None:
    reply = client.post("/tools", json=price_call())
    assert reply.status_code == 200
    assert reply.json() == {
        "type": "function_call_output",
        "call_id": "call_1",
        "id": "fc_1",
        "output": PRICE,
    }


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("calculator", '{"expression": "12 * 34"}', "408"),
        ("calculator", '{"expression": "P123"}', "Error: not an expression"),
        ("lookup", '{"record": "Q1", "field": "price"}', "Error: no record Q1"),
        ("lookup", '{"record": "Q1"}', "Error: wrong arguments"),
        ("lookup", "{", "Error: arguments are not JSON"),
        ("search", "{}", "Error: no tool search"),
    ],
)
def test_mistakes_of_the_model_are_text(
    client: httpx.Client, name: str, arguments: str, output: str
) -> None:
    reply = client.post("/tools", json=tool_call(name, {}) | {"arguments": arguments})
    assert reply.status_code == 200
    assert reply.json()["output"].startswith(output)


def test_a_request_of_the_wrong_shape_is_the_callers_fault(client: httpx.Client) -> None:
    assert client.post("/tools", json={"type": "function_call"}).status_code == 422
    assert client.post("/tools", content=b"{").status_code == 422
    assert client.post("/grade", json={"sample": {}}).status_code == 422


def test_a_retried_call_is_recorded_once(client: httpx.Client) -> None:
    replies = [client.post("/tools", json=price_call()).json() for _ in range(3)]
    assert replies[0] == replies[1] == replies[2]
    assert score(client, PRICE, PRICE, ["lookup"]) == (1.0, 0.0)
    client.post("/tools", json=price_call(n=2))
    assert score(client, PRICE, PRICE, ["lookup"]) == (0.8, 1.0)


def test_the_idempotency_key_outranks_the_call_id(client: httpx.Client) -> None:
    for n in (1, 2):
        reply = client.post("/tools", json=price_call(n), headers={"Idempotency-Key": "k"})
        assert reply.json()["call_id"] == f"call_{n}"
    assert score(client, PRICE, PRICE, ["lookup"]) == (1.0, 0.0)


def test_a_call_id_cannot_return_with_other_arguments(client: httpx.Client) -> None:
    assert client.post("/tools", json=price_call()).status_code == 200
    changed = tool_call("lookup", {"record": PART, "field": "stock"})
    assert client.post("/tools", json=changed).status_code == 409


def test_grading_sees_only_the_rollouts_own_calls(client: httpx.Client) -> None:
    for n in (1, 2, 3):
        client.post("/tools", json=price_call(n, trace="trace_other"))
    assert score(client, PRICE, PRICE, ["lookup"]) == (1.0, 0.0)
    reply = client.post("/grade", json=grade_body(PRICE, PRICE, ["lookup"], "trace_other"))
    assert reply.json() == {"score": 0.6, "metrics": {"correct": 1.0, "wasted_calls": 2.0}}


def test_a_rollout_is_forgotten_after_its_time(serve: Any) -> None:
    remembering, forgetting = serve(Options()), serve(Options(ttl_s=0.2))
    for client in (remembering, forgetting):
        client.post("/tools", json=price_call(1))
        client.post("/tools", json=price_call(2))
    wait_for(lambda: forgetting.get("/health").json()["rollouts"] == 0, what="the end of its time")
    assert score(forgetting, PRICE, PRICE, ["lookup"])[1] == 0.0
    assert remembering.get("/health").json()["rollouts"] == 1
    assert score(remembering, PRICE, PRICE, ["lookup"])[1] == 1.0


def fates(client: httpx.Client, count: int, attempts: int) -> list[list[int]]:
    """Statuses by call, one a retry."""
    return [
        [
            client.post(
                "/tools",
                json=price_call(n, trace=f"trace_{n}"),
                headers={"webhook-id": f"msg_{n}", "X-Attempt": str(attempt)},
            ).status_code
            for attempt in range(1, attempts + 1)
        ]
        for n in range(count)
    ]


def test_a_failing_call_fails_on_every_attempt(serve: Any) -> None:
    client = serve(Options(faults=Faults(share=1 / 3, status=503)))
    outcomes = fates(client, 60, 2)
    assert all(first == second for first, second in outcomes)
    failed = sum(first == 503 for first, _ in outcomes)
    assert failed + sum(first == 200 for first, _ in outcomes) == 60
    assert 12 <= failed <= 28
    assert outcomes == fates(client, 60, 2)
    assert client.post("/grade", json=grade_body("1", "1", [])).status_code == 200


def test_only_signed_requests_pass_when_a_secret_is_set(serve: Any) -> None:
    client = serve(Options(signing_secret=SECRET))
    body = json.dumps(price_call())
    now = datetime.now(UTC)
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign("msg_1", now, body),
        "content-type": "application/json",
    }
    assert client.post("/tools", content=body, headers=headers).json()["output"] == PRICE
    assert client.post("/tools", content=body + " ", headers=headers).status_code == 401
    other_id = headers | {"webhook-id": "msg_2"}
    assert client.post("/tools", content=body, headers=other_id).status_code == 401
    garbled = headers | {"webhook-signature": "v1"}
    assert client.post("/tools", content=body, headers=garbled).status_code == 401
    assert client.post("/tools", json=price_call()).status_code == 401
    assert client.post("/grade", json=grade_body("1", "1", [])).status_code == 401


def test_the_command_prints_its_address_and_serves() -> None:
    command = [sys.executable, "-m", "examples.records_agent.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            reply = httpx.post(
                f"{url}/tools", json=price_call(), trust_env=False, timeout=PATIENCE_S
            )
            assert reply.json()["output"] == PRICE
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
