"""The addresses of a call, as `validate` probes them."""

import asyncio
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.preflight import job_count, validate_call
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply


async def test_an_endpoint_that_takes_only_post_is_there(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    tools = [("old", "/posts-only", "127.0.0.1"), ("new", "/tool", "localhost")]
    call["method"]["reinforcement"]["tools"] = [
        {"name": name, "server_url": customer.url(path, host=host)} for name, path, host in tools
    ]
    report = await validate_call(api, call)
    statuses = [(check["name"], check["status"]) for check in report["endpoints"]]
    assert statuses == [("old", 501), ("new", 405), ("g", 405)]
    found = {fault["code"] for fault in [*report["errors"], *report["warnings"]]}
    assert not found & {"endpoint_failing", "endpoint_unreachable", "endpoint_not_allowed"}


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        (Reply(404, {"detail": "Not Found"}), "endpoint_unavailable", "would be answered 404,"),
        (Reply(401, {"output": "no"}), "endpoint_unavailable", "would be answered 401: check"),
        (Reply(body=b"<html>"), "endpoint_failing", "answered 200 without a text `output`: the"),
        (Reply(404, {"output": "no such record"}), None, ""),
        (Reply(500), None, ""),
    ],
)
async def test_a_tool_is_called_once_with_arguments_that_it_cannot_run(
    api: Api,
    call: dict[str, Any],
    customer: EndpointServer,
    reply: Reply,
    code: str | None,
    words: str,
) -> None:
    grade = customer.script

    def answer(request: ReceivedRequest) -> Any:
        return reply if request.path == "/ticket" and request.body else grade(request)

    customer.script = answer
    tool = {"name": "ticket", "server_url": customer.url("/ticket"), "headers": {"X-Key": "k"}}
    call["method"]["reinforcement"]["tools"] = [tool]
    report = await validate_call(api, call)
    (sent,) = [one for one in customer.received if one.path == "/ticket" and one.body]
    assert (sent.json["name"], sent.json["arguments"]) == ("ticket", '{"unfinished": ')
    assert sent.headers["x-key"] == "k"
    param = "method.reinforcement.tools[0].server_url"
    found = [one for one in [*report["errors"], *report["warnings"]] if one["param"] == param]
    assert [one["code"] for one in found] == ([] if code is None else [code])
    assert all(words in one["message"] for one in found), found
    assert report["valid"] is (code != "endpoint_unavailable")


async def test_a_grader_at_a_wrong_address_is_an_error(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    customer.script = lambda _: Reply(404)
    (error,) = (await validate_call(api, call))["errors"]
    assert (error["code"], error["param"]) == (
        "endpoint_unavailable",
        "method.reinforcement.grader",
    )
    assert "answered 404" in error["message"]


async def test_a_private_address_is_refused_with_the_option_that_allows_it(
    api: Api, call: dict[str, Any]
) -> None:
    grader = call["method"]["reinforcement"]["grader"]
    for host in ("localhost", "127.0.0.1"):
        grader["url"] = f"http://{host}:1/grade"
        reply = await api.call("POST", "/v1/fine_tuning/jobs", json=call)
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (400, "endpoint_not_allowed")
        assert error["message"].startswith(f"url is not allowed: {host}:1 is a private address")
        assert f"`agent-rft up --allow-endpoint {host}:1`" in error["message"]
        (found,) = (await validate_call(api, call))["errors"]
        assert f"--allow-endpoint {host}:1" in found["message"]


async def test_nested_graders_are_looked_into(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    prompt = [{"role": "user", "content": "{{ sample.output_text }}"}]
    call["method"]["reinforcement"]["grader"] = {
        "type": "multi",
        "graders": {
            "a": {"type": "endpoint", "name": "a", "url": "http://127.0.0.1:9/"},
            "b": {"type": "score_model", "name": "b", "model": "gpt-absent", "input": prompt},
            "c": {"type": "score_model", "name": "c", "model": "tiny-agent", "input": prompt},
            "d": {
                "type": "score_model",
                "name": "d",
                "model": "theirs",
                "input": prompt,
                "base_url": customer.url("/v1"),
            },
        },
        "calculate_output": "a + b + c + d",
    }
    report = await validate_call(api, call)
    root = "method.reinforcement.grader.graders"
    assert [(fault["code"], fault["param"]) for fault in report["errors"]] == [
        ("model_not_found", f"{root}.b.model"),
        ("endpoint_unreachable", f"{root}.a.url"),
        ("endpoint_unavailable", f"{root}.d"),
    ]
    assert [check["param"] for check in report["endpoints"]] == [
        f"{root}.a.url",
        f"{root}.d.base_url",
    ]


READS_ANSWER = {"type": "string_check", "operation": "eq", "input": "{{sample.output_text}}"}
NEVER_RUN: dict[str, tuple[str, dict[str, Any]]] = {
    "endpoint": ("endpoint_unreachable", {"type": "endpoint", "url": "http://127.0.0.1:9/"}),
    "template": ("invalid_variable_error", {**READS_ANSWER, "reference": "{{item.absent}}"}),
    "calls": ("unreadable_row", {"type": "tool_call", "reference": "{{item.messages}}"}),
}


@pytest.mark.parametrize("kind", NEVER_RUN)
async def test_a_part_that_no_formula_uses_is_not_judged(
    api: Api, call: dict[str, Any], kind: str
) -> None:
    code, part = NEVER_RUN[kind]
    used = {**READS_ANSWER, "name": "a", "reference": "a"}
    parts: dict[str, Any] = {"a": used, "b": {**part, "name": "b"}}
    grader = {"type": "multi", "graders": parts, "calculate_output": "a"}
    call["method"]["reinforcement"]["grader"] = grader
    unused = await validate_call(api, call)
    assert unused["errors"] == []
    asked = {check["name"]: check["detail"] for check in unused["endpoints"]}
    assert kind != "endpoint" or asked["b"] == "not asked: the formula does not use this part"
    grader["calculate_output"] = "a + b"
    assert code in [error["code"] for error in (await validate_call(api, call))["errors"]]


async def test_a_slow_endpoint_delays_no_other_request(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def held(_: ReceivedRequest) -> Reply:
        asked.set()
        await answer.wait()
        return Reply(200)

    customer.script = held
    validating = asyncio.create_task(validate_call(api, call))
    await asked.wait()
    assert await job_count(api) == 0
    assert not validating.done()
    answer.set()
    assert (await validating)["valid"] is True


async def test_of_very_many_addresses_the_first_are_probed(
    api: Api, call: dict[str, Any], customer: EndpointServer
) -> None:
    tools = [{"name": f"t{n}", "server_url": customer.url(f"/{n}")} for n in range(300)]
    call["method"]["reinforcement"]["tools"] = tools
    report = await validate_call(api, call)
    asked = [received for received in customer.received if not received.body]
    assert len(asked) == len(report["endpoints"]) == 128
    assert "endpoints_not_probed" in {fault["code"] for fault in report["warnings"]}
