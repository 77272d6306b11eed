"""Sealed values and keys of a definition are bounded, and no search for them holds up the loop."""

import asyncio
import json
from typing import Any

import pytest

from app.kit import redaction
from app.kit.redaction import MAX_SEALED, secrets_in
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.job_calls import JOBS, changed

ALPHA = "/v1/fine_tuning/alpha"
TOOL = {"name": "search", "server_url": ENDPOINT}
GRADER = {"type": "endpoint", "url": ENDPOINT}
ITEMS = {"type": "object", "properties": {}}
PRIVATE = {"name": "search", "server_url": "https://10.0.0.1/", "arguments": "{}"}
"""A call that is refused at last, so that no test waits for an answer."""
LONG = "k" * 50_000
ROOT = "method.reinforcement"


def headers(count: int) -> dict[str, str]:
    return {f"H-{number}": "c" for number in range(count)}


def an_eval(*graders: dict[str, Any]) -> dict[str, Any]:
    named = [{**grader, "name": f"g{number}"} for number, grader in enumerate(graders)]
    return {
        "data_source_config": {"type": "custom", "item_schema": ITEMS},
        "testing_criteria": named,
    }


def calls(
    body: dict[str, Any], tool: dict[str, Any], grader: dict[str, Any]
) -> list[tuple[str, dict[str, Any], str | None]]:
    """Every request that takes a tool or a grader, with the parameter of the definition."""
    return [
        (JOBS, changed(body, ("tools", 0), {**TOOL, **tool}), ROOT),
        (JOBS, changed(body, ("grader",), {**GRADER, **grader}), ROOT),
        ("/v1/tools", {**TOOL, **tool}, None),
        (f"{ALPHA}/tool/run", {**PRIVATE, **tool}, None),
        ("/v1/graders", {"name": "g", "grader": {**GRADER, **grader}}, "grader"),
        (f"{ALPHA}/graders/validate", {"grader": {**GRADER, **grader}}, "grader"),
        ("/v1/evals", an_eval({**GRADER, **grader}), "testing_criteria[0]"),
    ]


async def test_a_fault_of_a_schema_quotes_three_hundred_characters(api: Api) -> None:
    schema = {"$ref": f"#{LONG}"}
    grader = {"type": "json_valid", "name": "g", "json_schema": schema}
    refused = await api.call("POST", f"{ALPHA}/graders/validate", json={"grader": grader})
    assert refused.status_code == 400
    quoted = f"Anchor '{LONG}"[:300]
    assert f"it is not a JSON schema ({quoted})" in refused.json()["error"]["message"]


async def test_a_definition_has_a_bounded_number_of_sealed_values(
    api: Api, body: dict[str, Any]
) -> None:
    most, more = ({"headers": headers(MAX_SEALED + number)} for number in (-1, 1))
    for path, sent, _ in calls(body, most, most):
        if path not in ("/v1/tools", f"{ALPHA}/tool/run"):  # a tool has at most 64 headers
            reply = await api.call("POST", path, json=sent)
            assert reply.is_success, (path, reply.text[:500])
    for path, sent, param in calls(body, more, more):
        if path == "/v1/tools":
            continue
        reply = await api.call("POST", path, json=sent)
        error = reply.json()["error"]
        assert (reply.status_code, error["param"]) == (400, param), (path, error)
        assert f"more than {MAX_SEALED} values that are sealed" in error["message"]
        if path == JOBS:
            report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
            assert (ROOT, error["message"]) in [
                (found["param"], found["message"]) for found in report["errors"]
            ]


async def test_the_criteria_of_an_eval_are_counted_together(api: Api) -> None:
    half = {**GRADER, "headers": headers(MAX_SEALED // 2)}
    reply = await api.call("POST", "/v1/evals", json=an_eval(half, half))
    assert reply.is_success, reply.text[:500]
    reply = await api.call(
        "POST", "/v1/evals", json=an_eval(half, half, {**GRADER, "headers": headers(1)})
    )
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "testing_criteria[2]")


async def test_a_long_key_is_not_repeated(api: Api, body: dict[str, Any]) -> None:
    for path, sent, _ in calls(body, {LONG: "x"}, {LONG: {"a": "x"}}):
        reply = await api.call("POST", path, json=sent)
        assert len(reply.text) < 20_000, path
        assert LONG[:100] not in reply.text, path
    report = await api.call("POST", f"{JOBS}/validate", json=changed(body, (LONG,), 1))
    assert LONG[:100] not in report.text


async def test_secrets_are_never_searched_on_the_event_loop(
    api: Api, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search of the largest body takes long enough to keep every other request waiting."""
    searches, on_the_loop = 0, []

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal searches
        searches += 1
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            on_the_loop.append(path)
        return secrets_in(*arguments, **options)

    monkeypatch.setattr(redaction, "secrets_in", counted)
    tool = {"headers": {"K": "c"}}
    grader = {"headers": {"K": "c"}}
    path = "/v1/tools"
    ids = {
        path: (await api.call("POST", path, json=sent)).json()["id"]
        for path, sent in (
            ("/v1/tools", {**TOOL, **tool, "name": "updated"}),
            ("/v1/graders", {"name": "updated", "grader": {**GRADER, **grader}}),
        )
    }
    reference = changed(body, ("tools", 0), {"id": ids["/v1/tools"]})
    shown = {"headers": {"K": "[redacted]"}}
    for path, sent in (
        *[(path, sent) for path, sent, _ in calls(body, tool, grader)],
        (f"/v1/tools/{ids['/v1/tools']}", shown),
        (f"/v1/graders/{ids['/v1/graders']}", {"grader": {**GRADER, **shown}}),
        (JOBS, reference),
        (f"{JOBS}/validate", reference),
    ):
        before = searches
        reply = await api.call("POST", path, json=sent)
        assert reply.is_success or path.endswith("tool/run"), (path, reply.text[:500])
        assert searches > before, path
    assert on_the_loop == []


async def test_a_body_over_the_limit_of_a_definition_is_not_searched(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redaction, "secrets_in", None)
    large = {**TOOL, "parameters": {"password": ["c" * 1000] * 300}}
    assert len(json.dumps(large)) > 262_144
    reply = await api.call("POST", "/v1/tools", json=large)
    assert reply.status_code == 400
    assert "larger than 262144 bytes" in reply.json()["error"]["message"]
