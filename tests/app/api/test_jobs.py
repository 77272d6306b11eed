from copy import deepcopy
from typing import Any

import psycopg

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"


async def test_a_created_job_waits_with_everything_echoed(api: Api, body: dict[str, Any]) -> None:
    reply = await api.call("POST", JOBS, json={**body, "seed": 7, "metadata": {"a": "b"}})
    job = reply.json()
    assert reply.status_code == 200
    assert (job["status"], job["seed"], job["metadata"]) == ("validating_files", 7, {"a": "b"})
    assert job["method"]["reinforcement"]["grader"]["rate_limit"] == 50
    assert job["method"]["reinforcement"]["hyperparameters"]["batch_size"] == "auto"
    assert (await api.call("GET", f"{JOBS}/{job['id']}")).json() == job
    events = (await api.call("GET", f"{JOBS}/{job['id']}/events")).json()
    assert [e["message"] for e in events["data"]] == [f"Created fine-tuning job: {job['id']}"]
    assert events["has_more"] is False


async def test_a_job_of_higher_priority_overtakes_and_shows_its_position(
    api: Api, body: dict[str, Any]
) -> None:
    job_ids = {}
    for priority in (None, -3, 7):
        job = (await api.call("POST", JOBS, json={**body, "priority": priority})).json()
        assert job["priority"] == (priority or 0)
        job_ids[priority] = job["id"]
    shown = {
        name: (await api.call("GET", f"{JOBS}/{job_id}")).json()["queue_position"]
        for name, job_id in job_ids.items()
    }
    assert shown == {7: 1, None: 2, -3: 3}


async def test_headers_are_sealed_in_the_database(
    api: Api, body: dict[str, Any], database: Database
) -> None:
    await api.call("POST", JOBS, json=body)
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        row = connection.execute("SELECT j::text, secrets FROM fine_tuning_jobs j").fetchone()
    assert row is not None
    assert "secret-1" not in row[0]
    assert b"secret-1" not in row[1]


@cases(
    ("path", "value", "param", "code"),
    [
        (("validation_file",), None, "validation_file", "missing_required_parameter"),
        (("method", "reinforcement"), None, "method.reinforcement", "missing_required_parameter"),
        (("method", "type"), "other", "method.type", "invalid_value"),
        (
            ("method", "reinforcement", "tools", 0, "server_url"),
            "http://169.254.169.254/latest",
            "method.reinforcement.tools[0].server_url",
            "endpoint_not_allowed",
        ),
        (
            ("method", "reinforcement", "tools", 0, "headers"),
            {"X-Key": "a\r\nHost: b"},
            "method.reinforcement.tools[0].headers",
            "endpoint_not_allowed",
        ),
        (
            ("method", "reinforcement", "grader", "url"),
            "http://127.0.0.1:5432/",
            "method.reinforcement.grader.url",
            "endpoint_not_allowed",
        ),
        (
            ("method", "reinforcement", "grader", "rate_limit"),
            "1e999",
            "method.reinforcement.grader.rate_limit",
            "invalid_value",
        ),
        (("priority",), 101, "priority", "invalid_value"),
        (("metadata",), {"k" * 5000: "v"}, f"metadata.{'k' * 80}", "invalid_value"),
        (
            ("method", "reinforcement", "hyperparameters", "eval_interval"),
            10**400,
            "method.reinforcement.hyperparameters.eval_interval",
            "invalid_value",
        ),
    ],
)
async def test_a_bad_create_call_names_its_parameter_and_makes_nothing(
    api: Api, body: dict[str, Any], path: tuple[Any, ...], value: Any, param: str, code: str
) -> None:
    wrong = deepcopy(body)
    target: Any = wrong
    for part in path[:-1]:
        target = target[part]
    if value is None:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    reply = await api.call("POST", JOBS, json=wrong)
    assert reply.status_code == 400, reply.text
    error = reply.json()["error"]
    assert (error["param"], error["code"]) == (param, code), error
    assert error["type"] == "invalid_request_error"
    assert (await api.call("GET", JOBS)).json()["data"] == []


async def test_jobs_page_newest_first_without_gaps(api: Api, body: dict[str, Any]) -> None:
    made = [(await api.call("POST", JOBS, json=body)).json()["id"] for _ in range(5)]
    seen: list[str] = []
    more = True
    while more:
        after = {"after": seen[-1]} if seen else {}
        page = (await api.call("GET", JOBS, params={"limit": 2, **after})).json()
        seen += [job["id"] for job in page["data"]]
        more = page["has_more"]
    assert seen == made[::-1]


async def test_a_waiting_job_is_cancelled_once(api: Api, body: dict[str, Any]) -> None:
    job_id = (await api.call("POST", JOBS, json=body)).json()["id"]
    first = await api.call("POST", f"{JOBS}/{job_id}/cancel")
    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    for verb in ("cancel", "pause", "resume"):
        again = await api.call("POST", f"{JOBS}/{job_id}/{verb}")
        assert again.status_code == 400
        assert again.json()["error"]["code"] == "invalid_state"


async def test_another_tenant_sees_nothing(api: Api, body: dict[str, Any]) -> None:
    job_id = (await api.call("POST", JOBS, json=body)).json()["id"]
    file_id = body["training_file"]
    paths = [f"{JOBS}/{{}}{tail}" for tail in ("", "/events", "/checkpoints", "/metrics")]
    paths += [f"{JOBS}/{{}}/rollouts", f"{JOBS}/{{}}/report"]
    for path in paths:
        foreign = await api.call("GET", path.format(job_id), key=api.other_key)
        unknown = await api.call("GET", path.format("ftjob-unknown"), key=api.other_key)
        assert foreign.status_code == unknown.status_code == 404
        message = foreign.json()["error"]["message"].replace(job_id, "ftjob-unknown")
        assert message == unknown.json()["error"]["message"]
    for verb in ("cancel", "pause", "resume"):
        reply = await api.call("POST", f"{JOBS}/{job_id}/{verb}", key=api.other_key)
        assert reply.status_code == 404
    assert (await api.call("GET", JOBS, key=api.other_key)).json()["data"] == []
    assert (await api.call("GET", f"/v1/files/{file_id}", key=api.other_key)).status_code == 404
    stolen = await api.call("POST", JOBS, key=api.other_key, json=body)
    assert stolen.json()["error"]["code"] == "file_not_found"
    assert (await api.call("GET", f"{JOBS}/{job_id}")).json()["status"] == "validating_files"


@cases("kind", ["supervised", "dpo"])
async def test_a_missing_report_names_the_reason_and_whether_to_wait(
    api: Api, body: dict[str, Any], kind: str
) -> None:
    async def error_of(job_id: str) -> dict[str, Any]:
        reply = await api.call("GET", f"{JOBS}/{job_id}/report")
        assert reply.status_code == 404
        error: dict[str, Any] = reply.json()["error"]
        return {**error, "message": error["message"].replace(job_id, "JOB")}

    sent = {**body, "method": {"type": kind, kind: {}}}
    job_id = (await api.call("POST", JOBS, json=sent)).json()["id"]
    error = await error_of(job_id)
    assert error["code"] == "report_not_ready"
    assert error["message"] == (
        "Job JOB has no report yet: it is validating_files, and the report is made when it "
        "succeeds."
    )
    await api.call("POST", f"{JOBS}/{job_id}/cancel")
    error = await error_of(job_id)
    assert error["message"] == "Job JOB is cancelled, so it has no report."
    del sent["validation_file"]
    error = await error_of((await api.call("POST", JOBS, json=sent)).json()["id"])
    assert (error["code"], error["param"]) == ("no_validation_file", "validation_file")
    assert error["message"] == (
        "Job JOB has no report and will have none: a report compares the models on held-out rows, "
        "and the job was created without a validation_file."
    )
