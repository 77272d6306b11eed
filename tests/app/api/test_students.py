"""Students over HTTP: their life, their refusals, and their walls between projects."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.trained_jobs import TrainedJobs
from tests.support.stack import Database

STUDENTS = "/v1/students"
CHECK = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
EVAL = {
    "name": "mine",
    "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
    "testing_criteria": [CHECK],
}
SAMPLED = {
    "type": "completions",
    "model": "student:clerk",
    "source": {"type": "file_content", "content": [{"item": {"a": "1"}}]},
    "input_messages": {"type": "template", "template": [{"role": "user", "content": "hi"}]},
}
CLERK = {"name": "clerk", "base_model": "tiny-agent"}


@pytest.fixture
async def jobs(api: Api, database: Database, body: dict[str, Any]) -> AsyncIterator[TrainedJobs]:
    made = TrainedJobs(api, database, body)
    yield made
    await made.worker.dispose()


async def _error(api: Api, method: str, path: str, json: Any = None) -> tuple[int, str, str]:
    reply = await api.call(method, path, json=json)
    error = reply.json()["error"]
    return reply.status_code, error["code"], error["param"]


async def test_a_student_is_made_listed_and_deleted(api: Api) -> None:
    made = await api.call("POST", STUDENTS, json=CLERK)
    assert made.status_code == 201, made.text
    student = made.json()
    assert student["base_model"] == "tiny-agent-2026-11-23"
    assert (student["current_skill"], student["regression_sets"]) == (None, [])
    assert student["id"] == "clerk"
    await api.call("POST", STUDENTS, json={**CLERK, "name": "nurse"})
    listed = (await api.call("GET", f"{STUDENTS}?limit=1")).json()
    assert ([row["name"] for row in listed["data"]], listed["has_more"]) == (["nurse"], True)
    rest = (await api.call("GET", f"{STUDENTS}?after={listed['last_id']}")).json()
    assert rest["data"] == [student]
    assert (await api.call("GET", f"{STUDENTS}/clerk")).json() == student
    assert (await api.call("DELETE", f"{STUDENTS}/clerk")).json()["deleted"] is True
    assert await _error(api, "GET", f"{STUDENTS}/clerk") == (404, "student_not_found", "name")


async def test_wrong_calls_name_their_parameter(api: Api, jobs: TrainedJobs) -> None:
    await api.call("POST", STUDENTS, json=CLERK)
    wrong = {
        "name_taken": CLERK,
        "model_not_found": {"name": "b", "base_model": "nobody"},
        "eval_not_found": {**CLERK, "name": "c", "regression_evals": ["eval_none"]},
    }
    params = ("name", "base_model", "regression_evals")
    for (code, body), param in zip(wrong.items(), params, strict=True):
        assert await _error(api, "POST", STUDENTS, body) == (400, code, param)
    skills = f"{STUDENTS}/clerk/skills"
    assert await _error(api, "POST", skills, {"job": "no"}) == (400, "job_not_found", "job")
    waiting = {"job": await jobs.created()}
    assert await _error(api, "POST", skills, waiting) == (400, "job_not_proposable", "job")
    none = {"skill": "skill_none"}
    for verb in ("promote", "roll_back"):
        path = f"{STUDENTS}/clerk/{verb}"
        assert await _error(api, "POST", path, none) == (404, "skill_not_found", "skill")
    of_job = f"eval_{waiting['job'].removeprefix('ftjob-')}"
    body = {**CLERK, "name": "d", "regression_evals": [of_job]}
    said = (await api.call("POST", STUDENTS, json=body)).json()["error"]
    assert (said["param"], said["code"]) == ("regression_evals", "eval_without_rows")
    assert f"belongs to job {waiting['job']}" in said["message"]
    chat = {"model": "student:nobody", "messages": [{"role": "user", "content": "hi"}]}
    model = (await api.call("GET", "/v1/models/student:clerk")).json()["error"]
    assert "it names a student, see GET /v1/students/clerk" in model["message"]
    nobody = (await api.call("GET", "/v1/models/student:nobody")).json()["error"]
    assert nobody["code"] == "model_not_found"
    assert nobody["message"] == (
        "Student 'nobody' does not exist: GET /v1/students lists the students that there are."
    )
    call = {"model": "student:nobody", "training_file": "file-never"}
    refused = (await api.call("POST", "/v1/fine_tuning/jobs", json=call)).json()["error"]
    assert (refused["code"], refused["message"]) == ("model_not_available", nobody["message"])
    checked = (await api.call("POST", "/v1/fine_tuning/jobs/validate", json=call)).json()
    said = [fault["message"] for fault in checked["errors"] if fault["param"] == "model"]
    assert said == [nobody["message"]]
    unknown = await _error(api, "POST", "/v1/chat/completions", chat)
    assert unknown == (404, "model_not_found", "model")


async def _gated(api: Api, jobs: TrainedJobs) -> tuple[str, dict[str, str], str]:
    """Makes a student with a regression set. Returns the path of its skills, a job to propose, and
    the path of the eval's runs.
    """
    mine = (await api.call("POST", "/v1/evals", json=EVAL)).json()["id"]
    runs = f"/v1/evals/{mine}/runs"
    source = {**SAMPLED, "model": "tiny-agent"}
    assert (await api.call("POST", runs, json={"data_source": source})).status_code == 201
    made = await api.call("POST", STUDENTS, json={**CLERK, "regression_evals": [mine]})
    assert made.status_code == 201, made.text
    return f"{STUDENTS}/clerk/skills", {"job": (await jobs.succeeded()).id}, runs


async def _gate_runs(api: Api, runs: str) -> list[str]:
    listed = (await api.call("GET", f"{runs}?limit=100")).json()["data"]
    return [run["status"] for run in listed if run["name"] == "Gate of clerk"]


async def test_a_job_that_is_proposed_again_has_one_gate(api: Api, jobs: TrainedJobs) -> None:
    skills, job, runs = await _gated(api, jobs)
    proposed = [(await api.call("POST", skills, json=job)).json() for _ in range(3)]
    assert {(skill["id"], skill["status"]) for skill in proposed} == {
        (proposed[0]["id"], "running")
    }
    assert await _gate_runs(api, runs) == ["queued", "queued"]
    listed = (await api.call("GET", skills)).json()["data"]
    assert [skill["id"] for skill in listed] == [proposed[0]["id"]]


async def test_the_gate_of_a_deleted_student_is_closed(api: Api, jobs: TrainedJobs) -> None:
    skills, job, runs = await _gated(api, jobs)
    await api.call("POST", skills, json=job)
    assert (await api.call("DELETE", f"{STUDENTS}/clerk")).status_code == 200
    assert await _gate_runs(api, runs) == ["canceled", "canceled"]


async def test_no_project_sees_or_builds_on_the_student_of_another(
    api: Api, jobs: TrainedJobs
) -> None:
    await api.call("POST", STUDENTS, json=CLERK)
    job, foreign = await jobs.succeeded(), api.other_key
    skill = (await api.call("POST", f"{STUDENTS}/clerk/skills", json={"job": job.id})).json()
    assert skill["status"] == "held"
    calls: list[tuple[str, str, Any]] = [
        ("GET", f"{STUDENTS}/clerk", None),
        ("GET", f"{STUDENTS}/clerk/skills", None),
        ("POST", f"{STUDENTS}/clerk/skills", {"job": job.id}),
        ("POST", f"{STUDENTS}/clerk/promote", {"skill": skill["id"]}),
        ("POST", f"{STUDENTS}/clerk/roll_back", {"skill": None}),
        ("POST", f"{STUDENTS}/clerk", {"regression_evals": []}),
        ("POST", f"{STUDENTS}/clerk/improve", {"grader": CHECK, "training_file": "file-x"}),
        ("POST", f"{STUDENTS}/clerk/chat", {"messages": [{"role": "user", "content": "hi"}]}),
        ("DELETE", f"{STUDENTS}/clerk", None),
        (
            "POST",
            "/v1/chat/completions",
            {"model": "student:clerk", "messages": [{"role": "user", "content": "hi"}]},
        ),
    ]
    for method, path, body in calls:
        reply = await api.call(method, path, json=body, key=foreign)
        assert reply.status_code == 404, (path, reply.text)
    assert (await api.call("GET", STUDENTS, key=foreign)).json()["data"] == []
    mine = (await api.call("POST", "/v1/evals", json=EVAL)).json()["id"]
    run = {"data_source": SAMPLED}
    theirs = (await api.call("POST", "/v1/evals", json=EVAL, key=foreign)).json()["id"]
    refused: list[tuple[str, Any, str]] = [
        (STUDENTS, {**CLERK, "regression_evals": [mine]}, "eval_not_found"),
        (f"/v1/evals/{theirs}/runs", run, "model_not_found"),
        ("/v1/fine_tuning/jobs", {**jobs.body, "model": "student:clerk"}, "model_not_available"),
    ]
    for path, body, code in refused:
        reply = await api.call("POST", path, json=body, key=foreign)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, code), reply.text
    own = await api.call("POST", STUDENTS, json=CLERK, key=foreign)
    assert own.status_code == 201
    path = f"{STUDENTS}/clerk"
    stolen = await api.call("POST", f"{path}/skills", json={"job": job.id}, key=foreign)
    assert (stolen.status_code, stolen.json()["error"]["code"]) == (400, "job_not_found")
    moved = await api.call("POST", f"{path}/promote", json={"skill": skill["id"]}, key=foreign)
    assert moved.status_code == 404
    kept = (await api.call("GET", f"{path}/skills")).json()["data"]
    assert [row["id"] for row in kept] == [skill["id"]]
