"""`DELETE /v1/models/{model}` of models that jobs and eval runs use."""

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.api.trained_jobs import TrainedJob, TrainedJobs
from tests.support.stack import Database

ROUNDS = 4


@pytest.fixture
async def jobs(api: Api, database: Database, body: dict[str, Any]) -> AsyncIterator[TrainedJobs]:
    made = TrainedJobs(api, database, body)
    yield made
    await made.worker.dispose()


async def started_from(jobs: TrainedJobs, model: str) -> str:
    return await jobs.created(body={**jobs.body, "model": model})


def judge(model: str) -> dict[str, Any]:
    message = {"role": "user", "content": "{{ sample.output_text }}"}
    return {"type": "score_model", "name": "judge", "model": model, "input": [message]}


async def graded_by(jobs: TrainedJobs, model: str) -> str:
    """A job whose judge is within another grader."""
    body = copy.deepcopy(jobs.body)
    body["method"]["reinforcement"]["grader"] = {
        "type": "multi",
        "name": "all",
        "graders": {"judged": judge(model)},
        "calculate_output": "judged",
    }
    return await jobs.created(body=body)


async def _run(jobs: TrainedJobs, criterion: dict[str, Any], source: dict[str, Any]) -> str:
    config = {"type": "custom", "item_schema": {"type": "object"}, "include_sample_schema": True}
    made = await jobs.api.call(
        "POST", "/v1/evals", json={"data_source_config": config, "testing_criteria": [criterion]}
    )
    path = f"/v1/evals/{made.json()['id']}/runs"
    content = {"type": "file_content", "content": [{"item": {"a": 1}}]}
    run = await jobs.api.call("POST", path, json={"data_source": {**source, "source": content}})
    assert run.status_code == 201, run.text
    return str(run.json()["id"])


async def sampled_by_an_eval(jobs: TrainedJobs, model: str) -> str:
    check = {
        "type": "string_check",
        "name": "exact",
        "operation": "eq",
        "input": "{{ sample.output_text }}",
        "reference": "1",
    }
    template = {"type": "template", "template": [{"role": "user", "content": "hi"}]}
    source = {"type": "completions", "model": model, "input_messages": template}
    return await _run(jobs, check, source)


async def graded_in_an_eval(jobs: TrainedJobs, model: str) -> str:
    message = {"role": "user", "content": "{{ item.a }}"}
    return await _run(jobs, {**judge(model), "input": [message]}, {"type": "jsonl"})


async def cancels(jobs: TrainedJobs, user: str) -> str:
    """Returns the path that ends a user of a model."""
    if user.startswith("ftjob-"):
        return f"{JOBS}/{user}/cancel"
    [run_of] = [
        f"/v1/evals/{each['id']}/runs/{user}"
        for each in (await jobs.api.call("GET", "/v1/evals")).json()["data"]
        if await jobs.status("GET", f"/v1/evals/{each['id']}/runs/{user}") == 200
    ]
    return f"{run_of}/cancel"


@pytest.mark.parametrize(
    "use",
    [started_from, graded_by, sampled_by_an_eval, graded_in_an_eval],
    ids=lambda use: use.__name__,
)
async def test_a_model_in_use_is_refused_with_its_users_until_they_end(
    jobs: TrainedJobs, use: Any
) -> None:
    job, other = await jobs.succeeded(), await jobs.succeeded()
    user = await use(jobs, job.model)
    path = f"/v1/models/{job.model}"
    reply = await jobs.api.call("DELETE", path)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["code"], error["param"], error["type"]) == (
        "model_in_use",
        "model",
        "invalid_request_error",
    )
    path_to_the_end = await cancels(jobs, user)
    noun = "job" if user.startswith("ftjob-") else "eval run"
    assert error["message"] == (
        f"Model '{job.model}' is used by {noun} {user}, which has not ended. Wait for the end, or "
        f"end it: POST {path_to_the_end} ends the {noun}."
    )
    assert await jobs.status("GET", path) == 200
    assert await jobs.status("DELETE", f"/v1/models/{other.model}") == 200
    assert await jobs.status("DELETE", path, key=jobs.api.other_key) == 404
    assert await jobs.status("POST", path_to_the_end) == 200
    assert await jobs.status("DELETE", path) == 200
    assert await jobs.status("GET", path) == 404


async def test_an_error_names_a_few_of_many_users(jobs: TrainedJobs) -> None:
    job = await jobs.succeeded()
    users = sorted([await started_from(jobs, job.checkpoint(1)) for _ in range(7)])
    reply = await jobs.api.call("DELETE", f"/v1/models/{job.checkpoint(1)}")
    named = ", ".join(f"job {user}" for user in users[:5])
    assert f"is used by {named} and 2 more, which have not" in reply.json()["error"]["message"]


async def test_a_job_and_its_models_may_be_deleted_at_the_same_time(jobs: TrainedJobs) -> None:
    """No request waits for a lock of another one that waits for it: Postgres would end one."""
    made = [await jobs.succeeded() for _ in range(ROUNDS)]

    async def both(job: TrainedJob) -> list[int]:
        names = [job.model, *(job.checkpoint(step) for step in (1, 2, 3))]
        paths = [f"{JOBS}/{job.id}", *(f"/v1/models/{name}" for name in names)]
        return await asyncio.gather(*(jobs.status("DELETE", path) for path in paths * 2))

    for statuses in await asyncio.gather(*map(both, made)):
        assert set(statuses) <= {200, 404}, statuses
    left = (await jobs.api.call("GET", "/v1/models")).json()["data"]
    assert [model["owned_by"] for model in left] == ["system"]
    assert (await jobs.api.call("GET", JOBS)).json()["data"] == []
