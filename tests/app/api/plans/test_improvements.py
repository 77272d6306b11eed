"""Improvements of students: a plan that becomes a job of the model that answers."""

from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.preflight import job_count, validate_call

STUDENTS = "/v1/students"
COMPILE = "/v1/improvement_plans/compile"


@pytest.fixture
async def plan(api: Api, call: dict[str, Any]) -> dict[str, Any]:
    """Returns the plan of a job for the student 'clerk', which exists."""
    student = {"name": "clerk", "base_model": call["model"]}
    made = await api.call("POST", STUDENTS, json=student)
    assert made.status_code == 201, made.text
    files = {name: call[name] for name in ("training_file", "validation_file")}
    return {**files, "grader": call["method"]["reinforcement"]["grader"]}


async def test_an_improvement_is_the_job_that_its_plan_compiles_to(
    api: Api, call: dict[str, Any], plan: dict[str, Any]
) -> None:
    sent = {**plan, "knobs": {"drift_guard": 60}, "seed": 7}
    reply = await api.call("POST", f"{STUDENTS}/clerk/improve", json=sent)
    assert reply.status_code == 201, reply.text
    made = reply.json()
    assert await job_count(api) == 1
    compiled = await api.call("POST", COMPILE, json={**sent, "model": "student:clerk"})
    assert made["plan"] == compiled.json()
    assert made["plan"]["job"]["model"] == "student:clerk"
    assert made["plan"]["estimate"]["training_rows"] == 32
    job = made["job"]
    student = (await api.call("GET", f"{STUDENTS}/clerk")).json()
    assert (made["student"], job["model"]) == ("clerk", student["base_model"])
    assert (job["seed"], job["training_file"]) == (7, plan["training_file"])
    assert job["method"]["reinforcement"]["objective"]["kl_coefficient"] == 0.036
    assert (await validate_call(api, {**call, "model": "student:clerk"}))["errors"] == []


async def test_an_improvement_that_cannot_run_makes_no_job(api: Api, plan: dict[str, Any]) -> None:
    grader = {**plan["grader"], "name": ""} if "name" in plan["grader"] else {"type": "none"}
    wrong: list[tuple[str, dict[str, Any], tuple[int, str | None]]] = [
        ("clerk", {**plan, "grader": grader}, (400, "grader")),
        ("clerk", {**plan, "training_file": "file-none"}, (404, "training_file")),
        ("clerk", {**plan, "recipe": "nothing"}, (404, "recipe")),
        ("clerk", {**plan, "model": "tiny-agent"}, (400, "model")),
        ("clerk", {**plan, "knobs": {"drift_guard": 101}}, (400, "knobs.drift_guard")),
        ("nobody", plan, (404, "name")),
    ]
    for name, body, expected in wrong:
        reply = await api.call("POST", f"{STUDENTS}/{name}/improve", json=body)
        param = (reply.json()["error"]["param"] or "").split(".name")[0]
        assert (reply.status_code, param) == expected, reply.text
    foreign = await api.call("POST", f"{STUDENTS}/clerk/improve", json=plan, key=api.other_key)
    assert foreign.status_code == 404
    assert await job_count(api) == 0
    unknown = {**plan, "model": "student:nobody"}
    refused = await api.call("POST", COMPILE, json=unknown)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "model")
