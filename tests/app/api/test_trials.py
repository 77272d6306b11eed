"""Trial runs over HTTP, against scripted endpoints and an engine on real sockets."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from app.factory.accounts import provisioning_service
from app.main import create_app
from app.settings.egress import EgressSettings
from app.settings.judges import JudgeSettings
from app.store.database import Database as Store
from tests.support.chat_engine import chat_engine
from tests.support.endpoints import EndpointServer, Received, Reply, Script, endpoint
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database

RUN, VALIDATE = "/v1/fine_tuning/alpha/graders/run", "/v1/fine_tuning/alpha/graders/validate"
TOOL = "/v1/fine_tuning/alpha/tool/run"
FLAGS = {
    "formula_parse_error": False,
    "sample_parse_error": False,
    "truncated_observation_error": False,
    "unresponsive_reward_error": False,
    "invalid_variable_error": False,
    "other_error": False,
    "python_grader_server_error": False,
    "python_grader_server_error_type": None,
    "python_grader_runtime_error": False,
    "python_grader_runtime_error_details": None,
    "model_grader_server_error": False,
    "model_grader_refusal_error": False,
    "model_grader_parse_error": False,
    "model_grader_server_error_details": None,
    "details": None,
}
CHECK = {
    "type": "string_check",
    "name": "exact",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "operation": "eq",
}
NEAR = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "evaluation_metric": "fuzzy_match",
}


class Trials:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def post(self, path: str, body: Any, *, status: int = 200) -> dict[str, Any]:
        reply = await self._http.post(path, json=body)
        assert reply.status_code == status, reply.text
        answer: dict[str, Any] = reply.json()
        return answer

    async def fault(self, path: str, body: Any) -> tuple[str | None, str | None, str]:
        """Returns parameter, code and message of a 400."""
        error = (await self.post(path, body, status=400))["error"]
        return error["param"], error["code"], error["message"]

    async def run(self, grader: Any, sample: str = "42", **more: Any) -> dict[str, Any]:
        more.setdefault("item", {"answer": "42"})
        return await self.post(RUN, {"grader": grader, "model_sample": sample, **more})

    async def secret(self) -> str:
        reply = await self._http.get("/v1/signing_secret")
        secret: str = reply.json()["secret"]
        return secret


@asynccontextmanager
async def serving(
    database: Database,
    *servers: EndpointServer,
    judges: tuple[JudgeSettings, ...] = (),
    engine_url: str = "http://127.0.0.1:9",
    call_timeout_s: float = 3.0,
    max_body_bytes: int = 1_048_576,
) -> AsyncIterator[Trials]:
    egress = EgressSettings(
        allow_endpoints=tuple(server.host_port for server in servers),
        allow_plain_http=True,
        call_timeout_s=call_timeout_s,
        max_retries=1,
        max_body_bytes=max_body_bytes,
    )
    changes = {"egress": egress, "judges": judges, "engine_url": engine_url}
    settings = database.settings.model_copy(update=changes)
    store = Store(settings.database_url)
    created = await provisioning_service(settings, store).provision(
        slug="first", title="First", project_name="p"
    )
    await store.dispose()
    app = create_app(settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {created.api_key}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=transport, base_url="http://test", headers=headers, timeout=PATIENCE_S
        ) as http,
    ):
        yield Trials(http)


@pytest.fixture
async def trials(database: Database) -> AsyncIterator[Trials]:
    async with serving(database) as running:
        yield running


async def test_a_run_has_the_hosted_shape_with_every_flag(trials: Trials) -> None:
    answer = await trials.run(CHECK)
    elapsed = answer["metadata"].pop("execution_time")
    assert 0 < elapsed < 5
    assert answer == {
        "reward": 1.0,
        "metadata": {
            "name": "exact",
            "type": "string_check",
            "errors": FLAGS,
            "scores": {},
            "token_usage": None,
            "sampled_model_name": None,
        },
        "sub_rewards": {},
        "model_grader_token_usage_per_model": {},
    }
    assert (await trials.run(CHECK, "41"))["reward"] == 0.0


async def test_a_multi_grader_shows_its_parts(trials: Trials) -> None:
    grader = {
        "type": "multi",
        "graders": {"exact": CHECK, "near": NEAR},
        "calculate_output": "0.5 * exact + 0.5 * near",
    }
    answer = await trials.run(grader, "4")
    assert answer["reward"] == pytest.approx(0.5 * 2 / 3)
    assert answer["sub_rewards"] == pytest.approx({"exact": 0.0, "near": 2 / 3})
    assert answer["metadata"]["scores"] == answer["sub_rewards"]
    assert answer["metadata"]["name"] == "multi"


async def test_the_sample_is_json_where_it_parses(trials: Trials) -> None:
    grader = {**CHECK, "input": "{{ sample.output_json.a[1] }}"}
    assert (await trials.run(grader, '{"a": [1, 42]}'))["reward"] == 1.0
    answer = await trials.run(grader, "no JSON")
    assert answer["reward"] == 0.0
    assert answer["metadata"]["errors"] == {
        **FLAGS,
        "invalid_variable_error": True,
        "details": "'sample.output_json.a[1]' is not there",
    }


async def test_no_item_is_an_empty_one(trials: Trials) -> None:
    body = {"grader": {**CHECK, "reference": "42"}, "model_sample": "42"}
    assert (await trials.post(RUN, body))["reward"] == 1.0


async def test_an_endpoint_is_called_as_in_training(database: Database) -> None:
    async with endpoint(lambda _: Reply(json={"score": 0.25, "metrics": {"m": 2}})) as server:
        grader = {"type": "endpoint", "name": "g", "url": server.url(), "headers": {"K": "v"}}
        async with serving(database, server) as trials:
            answer = await trials.run(grader, '{"a": 1}', trace_id="trace_mine")
            secret = await trials.secret()
    assert (answer["reward"], answer["sub_rewards"]) == (0.25, {"m": 2.0})
    (request,) = server.received
    message = {"role": "assistant", "content": '{"a": 1}', "tool_calls": []}
    assert request.json == {
        "sample": {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "output_text": '{"a": 1}',
            "output_json": {"a": 1},
            "output_tools": [],
            "output_reasoning_summary": None,
        },
        "item": {"answer": "42"},
        "trace_id": "trace_mine",
    }
    assert request.headers["k"] == "v"
    assert request.headers["x-rollout-id"] == "trace_mine"
    Webhook(secret).verify(request.body, request.headers)


async def test_a_graders_fault_is_200_with_its_flag(database: Database) -> None:
    async with endpoint(lambda _: Reply(500, {"secret": "body"})) as server:
        grader = {"type": "endpoint", "name": "g", "url": server.url()}
        async with serving(database, server) as trials:
            alone = await trials.run(grader)
            inside = await trials.run(
                {"type": "multi", "graders": {"g": grader}, "calculate_output": "g"}
            )
    for answer in (alone, inside):
        errors = {**FLAGS, "other_error": True, "details": "answered 500"}
        assert (answer["reward"], answer["metadata"]["errors"]) == (0.0, errors)
    assert len(server.received) == 4


async def test_a_grader_that_hangs_ends_in_time(database: Database) -> None:
    async with endpoint(lambda _: Reply(json={"score": 1}, delay_s=3600)) as server:
        grader = {"type": "endpoint", "url": server.url()}
        async with serving(database, server, call_timeout_s=0.5) as trials:
            answer = await trials.run(grader)
    assert answer["metadata"]["errors"]["other_error"] is True


def judge(model: str, **more: Any) -> dict[str, Any]:
    prompt = [{"role": "user", "content": "Is it {{ item.answer }}? {{ sample.output_text }}"}]
    return {"type": "score_model", "name": "j", "model": model, "input": prompt, **more}


async def test_a_base_model_as_judge(database: Database) -> None:
    with chat_engine("tiny-agent-2026-11-21") as engine:
        engine.answer = json.dumps({"steps": [], "result": 7})
        async with serving(database, engine_url=engine.url) as trials:
            answer = await trials.run(judge("tiny-agent", range=[0, 5]))
    assert answer["reward"] == 5.0
    assert answer["metadata"]["errors"] == FLAGS
    assert answer["metadata"]["sampled_model_name"] == "tiny-agent"
    assert answer["metadata"]["token_usage"] == 4
    assert answer["model_grader_token_usage_per_model"] == {
        "tiny-agent": {
            "prompt_tokens": 3,
            "completion_tokens": 1,
            "total_tokens": 4,
            "cached_tokens": 0,
        }
    }
    assert engine.bodies[0]["model"] == "tiny-agent-2026-11-21"
    assert engine.bodies[0]["messages"][1]["content"] == "Is it 42? 42"


async def test_a_judge_of_the_operators_that_is_away(database: Database) -> None:
    async with endpoint(lambda _: Reply(503)) as server:
        settings = JudgeSettings(models=("judge-1",), base_url=server.url("/v1"))
        async with serving(database, judges=(settings,)) as trials:
            answer = await trials.run(judge("judge-1"))
    errors = answer["metadata"]["errors"]
    assert answer["reward"] == 0.0
    assert errors["model_grader_server_error"] is True
    assert errors["model_grader_server_error_details"] == "answered 503"


@pytest.mark.parametrize(
    ("grader", "param", "code"),
    [
        ({"type": "python", "source": "x"}, "grader.type", "grader_not_available"),
        ({"type": "made_up"}, "grader.type", "grader_not_available"),
        ({}, "grader.type", "missing_required_parameter"),
        ("text", "grader", "invalid_value"),
        ({**CHECK, "reference": "{{ foo }}"}, "grader.reference", "invalid_value"),
        (
            {"type": "multi", "graders": {"a": {**CHECK, "input": "{{"}}, "calculate_output": "a"},
            "grader.graders.a.input",
            "invalid_value",
        ),
        (
            {"type": "multi", "graders": {"a": CHECK}, "calculate_output": "a + b"},
            "grader.calculate_output",
            "invalid_value",
        ),
        (judge("gpt-nobody"), "grader.model", "model_not_found"),
        (
            {"type": "multi", "graders": {"a": judge("gpt-x")}, "calculate_output": "a"},
            "grader.graders.a.model",
            "model_not_found",
        ),
        (
            judge("m", base_url="http://127.0.0.1:1/v1"),
            "grader.base_url",
            "endpoint_not_allowed",
        ),
        (
            judge("m", base_url="https://1.1.1.1/v1", headers={"Host": "x"}),
            "grader.headers",
            "endpoint_not_allowed",
        ),
        (
            {
                "type": "multi",
                "graders": {"a": {"type": "endpoint", "url": "http://10.0.0.1/"}},
                "calculate_output": "a",
            },
            "grader.graders.a.url",
            "endpoint_not_allowed",
        ),
    ],
)
async def test_a_bad_grader_is_refused_by_name(
    trials: Trials, grader: Any, param: str, code: str
) -> None:
    for path, body in ((VALIDATE, {}), (RUN, {"model_sample": "x"})):
        fault = await trials.fault(path, {"grader": grader, **body})
        assert fault[:2] == (param, code), fault


async def test_validate_echoes_the_grader_as_it_is_understood(trials: Trials) -> None:
    assert await trials.post(VALIDATE, {"grader": CHECK}) == {"grader": CHECK}
    secret = judge("m", base_url="https://1.1.1.1/v1", headers={"Authorization": "canary"})
    grader = {"type": "multi", "graders": {"a": secret}, "calculate_output": "a", "extra": 1}
    answer = await trials.post(VALIDATE, {"grader": grader})
    echoed = answer["grader"]["graders"]["a"]
    assert echoed["headers"] == {"Authorization": "[redacted]"}
    assert echoed["range"] == [0.0, 1.0]
    assert (answer["grader"]["name"], answer["grader"]["extra"]) == ("multi", 1)


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
    database: Database, script: Script, **more: Any
) -> tuple[dict[str, Any], list[Received], str]:
    async with endpoint(script) as server, serving(database, server) as trials:
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
    answer, _, _ = await run_tool(database, lambda _: reply)
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
        ({"trace_id": ""}, "trace_id", "invalid_value"),
        ({"arguments": {"q": 1}}, "arguments", "invalid_value"),
        ({"type": "other"}, "type", "invalid_value"),
        ({"auth": {"token": "t"}}, "auth", "not_available"),
        ({"Auth": "t"}, "Auth", "not_available"),
        ({"extra": {"a": 1}}, "extra", "unknown_parameter"),
        ({"extra": []}, "extra", "unknown_parameter"),
        ({"rate_limit": [1]}, "rate_limit", "invalid_value"),
        ({"parameters": {"api_key": "[redacted]"}}, "parameters", "invalid_value"),
        ({"api_key": "[redacted]"}, "api_key", "invalid_value"),
    ],
)
async def test_a_call_that_cannot_be_made_is_refused(
    database: Database, changes: dict[str, Any], param: str, code: str
) -> None:
    answer, received, _ = await run_tool(database, lambda _: Reply(), **changes)
    assert (answer["error"]["param"], answer["error"]["code"]) == (param, code)
    assert received == []


async def test_a_tools_other_keys_are_accepted_and_sent_nowhere(database: Database) -> None:
    tool = {"description": "Finds.", "parameters": {"type": "object"}, "rate_limit": 5, "note": "n"}
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
