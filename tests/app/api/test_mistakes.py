"""Mistakes in a create call: each is refused, or accepted and named, in the same words by `create`,
`validate` and `agent-rft validate`.
"""

import json
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.api.mistakes import (
    CALLS,
    LOOKED_UP,
    NAMED,
    QUESTION,
    REFUSED,
    ROOT,
    ROWS,
    altered,
    grading,
)
from tests.support.api.offline import is_unchecked, offline


async def events(api: Api, job_id: str) -> list[tuple[str, str]]:
    page = (await api.call("GET", f"{JOBS}/{job_id}/events")).json()["data"]
    return [(event["level"], event["message"]) for event in page]


@pytest.mark.parametrize(("changes", "param", "sentence"), REFUSED)
async def test_a_mistake_is_refused_with_its_cure(
    api: Api, body: dict[str, Any], *, changes: dict[str, Any], param: str, sentence: str
) -> None:
    sent = altered(body, changes)
    reply = await api.call("POST", JOBS, json=sent)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert (error["param"], sentence in error["message"]) == (param, True), error
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    for found in (report, offline(json.dumps(sent).encode())):
        alike = [fault for fault in found["errors"] if fault["param"] == param]
        assert [(fault["code"], sentence in fault["message"]) for fault in alike] == [
            (error["code"], True)
        ], found["errors"]
    assert (await api.call("GET", JOBS)).json()["data"] == []


@pytest.mark.parametrize(("changes", "param"), LOOKED_UP)
async def test_what_only_a_service_can_check_is_named_without_one(
    api: Api, body: dict[str, Any], *, changes: dict[str, Any], param: str
) -> None:
    sent = altered(body, changes)
    reply = await api.call("POST", JOBS, json=sent)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param), reply.text
    report = offline(json.dumps(sent).encode())
    assert (report["errors"], is_unchecked(report, param)) == ([], True)
    online = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert "not_checked" not in [fault["code"] for fault in online["warnings"]]


@pytest.mark.parametrize(("changes", "param", "code", "sentence"), NAMED)
async def test_what_changes_nothing_is_named_in_a_warning_and_an_event(
    api: Api, body: dict[str, Any], *, changes: dict[str, Any], param: str, code: str, sentence: str
) -> None:
    sent = altered(body, changes)
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert (code, param) in [(fault["code"], fault["param"]) for fault in report["warnings"]]
    made = await api.call("POST", JOBS, json=sent)
    assert made.status_code == 200, made.text
    warned = [text for level, text in await events(api, made.json()["id"]) if level == "warn"]
    assert any(sentence in message for message in warned), warned


@pytest.mark.parametrize(
    "changes",
    [
        grading(input="{{sample.tool_calls}}"),
        {f"{ROOT}.grader": {**CALLS, "source": "rollout", "input": "a"}},
        {f"{ROOT}.tools": [], f"{ROOT}.grader": {**CALLS, "source": "text"}},
    ],
)
async def test_a_call_without_mistakes_has_no_warning(
    api: Api, body: dict[str, Any], changes: dict[str, Any]
) -> None:
    sent = altered(body, changes)
    made = await api.call("POST", JOBS, json=sent)
    assert [level for level, _ in await events(api, made.json()["id"])] == ["info"]
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    codes = {fault["code"] for fault in report["warnings"]}
    assert "constant_grader" not in codes, report["warnings"]


async def test_many_unknown_keys_are_counted(api: Api, body: dict[str, Any]) -> None:
    sent = altered(body, {f"{ROOT}.k{number}": number for number in range(5_000)})
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    named = [fault for fault in report["warnings"] if fault["code"] == "unknown_parameter"]
    assert (len(named), named[-1]["message"]) == (201, "Nothing reads 4800 more keys.")
    made = await api.call("POST", JOBS, json=sent)
    assert any("and 4980 more" in text for _, text in await events(api, made.json()["id"]))


async def with_rows(api: Api, body: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    files = [(await api.upload(content)).json()["id"] for _ in range(2)]
    changes = {"training_file": files[0], "validation_file": files[1], f"{ROOT}.tools": []}
    return altered(body, changes)


@pytest.mark.parametrize(("changes", "rows", "severity", "param", "sentence"), ROWS)
async def test_a_mistake_that_the_rows_show_is_named(
    api: Api,
    body: dict[str, Any],
    *,
    changes: dict[str, Any],
    rows: list[dict[str, Any]],
    severity: str,
    param: str,
    sentence: str,
) -> None:
    sent = altered(await with_rows(api, body, rows), changes)
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    reported = [fault["message"] for fault in report[severity] if fault["param"] == param]
    assert any(sentence in message for message in reported), report


async def test_fields_that_graders_are_always_given_are_no_mistake(
    api: Api, body: dict[str, Any]
) -> None:
    text = "{{item.messages[0].name}}{{item.tools}}{{item.parallel_tool_calls}}{{item}}"
    sent = altered(await with_rows(api, body, [QUESTION] * 10), grading(reference=text))
    report = (await api.call("POST", f"{JOBS}/validate", json=sent)).json()
    assert report["errors"] == []
