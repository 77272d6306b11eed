"""Metrics for Prometheus: true counts, bounded labels, and nothing without the key."""

import math
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr, ValidationError

from app.database import Database as Store
from app.jobs.jobs import StatusCount
from app.kit.errors import Unavailable
from app.settings import Settings
from tests.support.api.application import Api, running
from tests.support.api.job_calls import JOBS
from tests.support.api.organization import execute
from tests.support.endpoints import Reply, endpoint
from tests.support.stack import Database

KEY = "prometheus-reads-with-this"


@pytest.fixture
async def measured(database: Database) -> AsyncIterator[Api]:
    settings = database.settings.model_copy(update={"monitoring_key": SecretStr(KEY)})
    async with running(replace(database, settings=settings)) as api:
        yield api


async def _samples(api: Api) -> dict[tuple[str, tuple[str, ...]], float]:
    """Returns the values of all series, by name and values of their labels."""
    reply = await api.call("GET", "/metrics", key=KEY)
    assert reply.status_code == 200, reply.text
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


async def test_requests_are_counted_by_template_and_status(measured: Api) -> None:
    for number in range(3):
        await measured.call("GET", f"{JOBS}/ftjob-{number}")
    await measured.call("GET", JOBS, key="no-key")
    await measured.http.head("/healthz")
    found = await _samples(measured)
    requests = {key[1]: value for key, value in found.items() if key[0].endswith("requests_total")}
    assert requests == {
        ("GET", "/v1/fine_tuning/jobs/{job_id}", "404"): 3,
        ("GET", "/v1/fine_tuning/jobs", "401"): 1,
        ("HEAD", "/healthz", "200"): 1,
    }
    durations = "agent_rft_http_request_duration_seconds_count"
    assert found[durations, ("/v1/fine_tuning/jobs/{job_id}",)] == 3
    assert found["agent_rft_http_requests_in_flight", ()] == 1  # the one that reads


async def test_nothing_that_a_client_sends_becomes_a_label(measured: Api) -> None:
    before = len(await _samples(measured))  # what this process counted earlier stays
    await measured.http.request("BREW", "/v1/files")
    for number in range(50):
        await measured.call("GET", f"/v1/nothing/{number}")
        await measured.call("GET", f"/v1/models/m{number}/adapter")
    await measured.call("POST", JOBS, content=b"{", headers={"content-type": "application/json"})
    text = (await measured.call("GET", "/metrics", key=KEY)).text
    assert "/v1/nothing" not in text
    assert "BREW" not in text
    found = await _samples(measured)
    requests = {key[1]: value for key, value in found.items() if key[0].endswith("requests_total")}
    assert requests["GET", "none", "404"] == 50
    assert requests["GET", "/v1/models/{model:path}/adapter", "404"] == 50
    assert {key for key in requests if key[0] == "other"} == {("other", "/v1/files", "405")}
    assert len(found) - before < 100


async def test_the_jobs_of_all_tenants_are_counted_by_status(
    measured: Api, database: Database
) -> None:
    rows = b'{"messages": [{"role": "user", "content": "hi"}]}\n'
    grader = {"type": "string_check", "input": "{{sample.output_text}}", "reference": "a"}
    method = {
        "type": "reinforcement",
        "reinforcement": {"grader": {**grader, "name": "g", "operation": "eq"}},
    }
    ids = []
    for key in (measured.key, measured.key, measured.other_key):
        file = (await measured.upload(rows, key=key)).json()["id"]
        body = {
            "model": "tiny-agent",
            "method": method,
            "training_file": file,
            "validation_file": file,
        }
        reply = await measured.call("POST", JOBS, json=body, key=key)
        assert reply.status_code == 200, reply.text
        ids.append(reply.json()["id"])
    await measured.call("POST", f"{JOBS}/{ids[0]}/cancel")
    execute(
        database,
        "UPDATE fine_tuning_jobs SET queued_at = now() - interval '1 hour' WHERE id = %s",
        ids[2],
    )
    found = await _samples(measured)
    jobs = {key[1][0]: value for key, value in found.items() if key[0] == "agent_rft_jobs"}
    assert {status: count for status, count in jobs.items() if count} == {
        "validating_files": 2,
        "cancelled": 1,
    }
    assert len(jobs) == 8
    assert 3600 <= found["agent_rft_oldest_waiting_job_seconds", ()] < 7200
    assert found["agent_rft_part_up", ("database",)] == 1
    assert found["agent_rft_part_up", ("worker",)] == 0


async def test_calls_to_customers_endpoints_are_counted_by_kind_and_outcome(
    database: Database,
) -> None:
    grade = "/v1/fine_tuning/alpha/graders/run"
    replies = iter([Reply(json={"score": 1.0}), Reply(503), Reply(json={"score": 0.5})])
    async with endpoint(lambda _: next(replies)) as server:
        settings = database.settings.model_copy(update={"monitoring_key": SecretStr(KEY)})
        measured = replace(database, settings=settings)
        grader = {"type": "endpoint", "name": "my-grader", "url": server.url("/grade")}
        body = {"grader": grader, "model_sample": "a", "item": {}}
        async with running(measured, server.host_port) as api:
            before = await _samples(api)
            for _ in range(2):
                reply = await api.call("POST", grade, json=body)
                assert reply.status_code == 200, reply.text
            after = await _samples(api)
            text = (await api.call("GET", "/metrics", key=KEY)).text
    added = {
        (name, labels): after[name, labels] - before.get((name, labels), 0)
        for name, labels in after
        if name.startswith("agent_rft_endpoint_") and name.endswith(("_total", "_count"))
    }
    assert {series: count for series, count in added.items() if count} == {
        ("agent_rft_endpoint_calls_total", ("grader", "answered")): 2,
        ("agent_rft_endpoint_retries_total", ("grader",)): 1,
        ("agent_rft_endpoint_call_duration_seconds_count", ("grader",)): 2,
    }
    assert "my-grader" not in text
    assert server.host_port not in text


@pytest.mark.parametrize("key", ["prometheus-reads-with-thi", None])
async def test_only_the_operators_key_reads(measured: Api, key: str | None) -> None:
    headers = {"Authorization": f"Bearer {measured.key if key is None else key}"}
    reply = await measured.http.get("/metrics", headers=headers)
    assert reply.status_code == 401
    assert reply.json()["error"]["code"] == "invalid_api_key"
    assert (await measured.http.get("/metrics")).status_code == 401


async def test_without_a_key_the_path_is_not_served(api: Api) -> None:
    reply = await api.call("GET", "/metrics", key=KEY)
    other = await api.call("GET", "/nothing", key=KEY)
    assert (reply.status_code, other.status_code) == (404, 404)
    assert reply.json()["error"]["code"] == other.json()["error"]["code"]


async def test_metrics_of_jobs_are_left_out_while_the_database_fails(
    measured: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ("agent_rft_jobs", ("queued",)) in await _samples(measured)

    async def fail(_: Store) -> list[StatusCount]:
        raise Unavailable("The database does not answer.")

    monkeypatch.setattr(Store, "status_counts", fail)
    found = await _samples(measured)
    assert not [key for key in found if key[0] == "agent_rft_jobs"]
    assert math.isnan(found["agent_rft_oldest_waiting_job_seconds", ()])


def test_a_short_key_is_refused(database: Database) -> None:
    values: dict[str, Any] = {"database_url": database.app_url, "secret_key": "s" * 32}
    with pytest.raises(ValidationError, match="16 characters or more"):
        Settings(**values, monitoring_key="short")
