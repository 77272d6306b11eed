"""The work of reading the graders of a request is bounded for all of them together: the event loop
of all tenants reads them.
"""

from collections.abc import Callable
from typing import Any

import pytest

from app.graders.templates import MAX_PLACEHOLDERS, MAX_PLACEHOLDERS_TOGETHER
from app.jobs.call_checks import call_issues
from app.jobs.schemas import read_call
from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.grading.app_calls import counted_calls
from tests.support.grading.large_definitions import MANY, judged, multi, pattern

RUN = "/v1/fine_tuning/alpha/graders/run"
VALIDATE = "/v1/fine_tuning/alpha/graders/validate"
MANY_TEMPLATES = {"type": "contains", "name": "c", "needles": [MANY] * 9}


def job(grader: dict[str, Any]) -> dict[str, Any]:
    method = {"type": "reinforcement", "reinforcement": {"grader": grader}}
    return {"model": "small", "training_file": "f", "validation_file": "g", "method": method}


def eval_of(grader: dict[str, Any]) -> dict[str, Any]:
    config = {"type": "custom", "item_schema": {"type": "object"}}
    return {"data_source_config": config, "testing_criteria": [grader]}


async def test_the_fault_names_the_first_part_beyond_a_sum(api: Api) -> None:
    grader = multi({"type": "contains", "needles": [MANY] * 11})
    error = (await api.call("POST", VALIDATE, json={"grader": grader})).json()["error"]
    assert error["param"] == "grader.graders.g0.needles[10]", error
    assert "together" in error["message"]


async def test_the_criteria_of_an_eval_are_one_definition(api: Api) -> None:
    criteria = [multi({"type": "contains", "needles": [MANY] * 4}) for _ in range(4)]
    body = {
        "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
        "testing_criteria": criteria,
    }
    reply = await api.call("POST", "/v1/evals", json=body)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (
        400,
        "testing_criteria[2].graders.g0.needles[2]",
    ), error


async def test_the_scorers_of_a_trial_are_not_built_on_the_loop(api: Api) -> None:
    grader = multi(*({"type": "contains", "needles": ["{{item.a}}"]} for _ in range(8)))
    body = {"grader": grader, "model_sample": "a", "item": {"a": "a"}}
    with counted_calls() as calls:
        reply = await api.call("POST", RUN, json=body)
    assert reply.json()["reward"] == 8.0
    assert calls["run_grader"] > 0
    assert calls["build_scorer"] == 0


@cases("most", [9, 99])
@cases(
    ("path", "body"),
    [
        ("/v1/evals", eval_of),
        ("/v1/fine_tuning/jobs", job),
        ("/v1/fine_tuning/jobs/validate", job),
        ("/v1/improvement_plans/explain", lambda grader: {"job": job(grader)}),
    ],
)
async def test_no_template_of_a_definition_is_parsed_on_the_loop(
    api: Api, path: str, body: Callable[[dict[str, Any]], dict[str, Any]], most: int
) -> None:
    sent = body(judged([MANY] * most))
    key = {"Authorization": f"Bearer {api.key}"}
    with counted_calls() as calls:
        # Not `api.call`, whose comparison with the offline check parses here.
        reply = await api.http.post(path, json=sent, headers=key)
    assert reply.status_code in (200, 400)
    assert ("10000 placeholders together" in reply.text) == (most > 10), reply.text
    assert sum(calls.values()) > 0
    assert calls["parse_template"] == 0


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        # The files of the job do not exist.
        ("/v1/fine_tuning/jobs", 400, lambda grader_id: job({"id": grader_id})),
        ("/v1/fine_tuning/jobs/validate", 200, lambda grader_id: job({"id": grader_id})),
        ("/v1/graders/{}/test", 200, lambda _: {"model_sample": "x", "item": {}}),
        ("/v1/graders/{}", 200, lambda _: {"name": "another"}),
    ],
)
async def test_no_template_of_a_registered_grader_is_parsed_on_the_loop(
    api: Api, path: str, status: int, body: Callable[[str], dict[str, Any]]
) -> None:
    key = {"Authorization": f"Bearer {api.key}"}
    grader = {"name": "long", "grader": multi(*[pattern("a")] * 2, MANY_TEMPLATES)}
    made = (await api.http.post("/v1/graders", json=grader, headers=key)).json()
    with counted_calls() as calls:
        sent = body(made["id"])
        reply = await api.http.post(path.format(made["id"]), json=sent, headers=key)
    assert reply.status_code == status, reply.text
    assert calls["parse_template"] == 0


def test_the_check_of_a_call_parses_no_template_beyond_the_sum() -> None:
    read = MAX_PLACEHOLDERS_TOGETHER // MAX_PLACEHOLDERS
    with counted_calls() as calls:
        _, faults = read_call(job(judged([MANY] * 250)))
        call_issues(job(judged([MANY] * 250)), None, reported=set())
    param = f"method.reinforcement.grader.input[{read}].content"
    assert [fault.param for fault in faults][:1] == [param]
    readings = calls["read_grader"] + calls["read_grader_or_auto"] + calls["reinforcement_faults"]
    assert 0 < calls["parse_template"] <= read * readings
