"""Deletion of ended jobs, models and registered objects over HTTP, and removal by age: which rows,
bytes and names are gone, and which are kept.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from app.database import Database as Store
from app.kit.objects import LocalObjects
from app.maintenance import MaintenanceUnitOfWork, maintenance
from app.settings import RetentionSettings
from tests.support.api.application import ENDPOINT, Api
from tests.support.api.job_calls import JOBS
from tests.support.api.organization import execute
from tests.support.api.trained_jobs import ROLLOUTS, TrainedJob, TrainedJobs
from tests.support.stack import Database
from tests.support.twins import InMemoryJobQueue
from workers.leased_kinds import JOBS as LEASED_JOBS
from workers.maintenance import expiry
from workers.processes.dispatcher import sweep

ALL_STEPS = [f"step-00000{step}-f1/adapter" for step in (1, 2, 3)]
SETTLED = "11 minutes"


@pytest.fixture
async def jobs(api: Api, database: Database, body: dict[str, Any]) -> AsyncIterator[TrainedJobs]:
    made = TrainedJobs(api, database, body)
    yield made
    await made.worker.dispose()


async def _other_tenants(jobs: TrainedJobs, files_of: bytes) -> TrainedJob:
    key = jobs.api.other_key
    ids = [(await jobs.api.upload(files_of, key=key)).json()["id"] for _ in range(2)]
    body = {**jobs.body, "training_file": ids[0], "validation_file": ids[1]}
    return await jobs.succeeded(key=key, body=body)


async def test_a_deleted_job_goes_with_all_but_the_model_that_it_published(
    jobs: TrainedJobs,
) -> None:
    rows = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
    job, neighbour = await jobs.succeeded(), await jobs.succeeded()
    foreign = await _other_tenants(jobs, rows)
    before = {other.id: (jobs.rows(other), jobs.bytes_of(other)) for other in (neighbour, foreign)}
    path = f"{JOBS}/{job.id}"
    assert await jobs.status("DELETE", path, key=jobs.api.other_key) == 404
    for step in (1, 3):
        await jobs.inference.load_adapter(job.engine_name(step), Path("x"))
    eval_id = (await jobs.api.call("GET", "/v1/evals")).json()["data"][0]["id"]
    written = {one.id: jobs.tracked(one) for one in (job, neighbour)}

    reply = await jobs.api.call("DELETE", path)
    assert reply.json() == {"id": job.id, "object": "fine_tuning.job", "deleted": True}
    gone = [path, f"/v1/models/{job.checkpoint(1)}", f"/v1/files/{job.result_file}"]
    gone += [f"{path}/{part}" for part in ("events", "checkpoints", "rollouts", "metrics")]
    gone += [f"/v1/evals/{eval_id}"]
    assert [await jobs.status("GET", one) for one in gone] == [404] * len(gone)
    assert await jobs.status("DELETE", path) == 404
    assert await jobs.status("POST", f"{path}/cancel") == 404
    assert await jobs.status("GET", f"/v1/models/{job.model}") == 200
    listed = (await jobs.api.call("GET", JOBS)).json()["data"]
    assert [each["id"] for each in listed] == [neighbour.id]
    [(method, secrets)] = execute(
        jobs.database, "SELECT method, secrets FROM fine_tuning_jobs WHERE id = %s", job.id
    )
    assert (method, secrets) == ({}, None)

    await jobs.sweep()
    assert jobs.bytes_of(job) == ALL_STEPS, "a claim may still run"
    jobs.age(job, SETTLED)
    await jobs.sweep()
    assert jobs.bytes_of(job) == ALL_STEPS[1:2]
    assert not jobs.result_bytes(job).exists()
    assert [written[one.id].exists() for one in (job, neighbour)] == [False, True]
    assert jobs.rows(job) == {"fine_tuning_jobs": 1, "tuned_models": 4}
    assert jobs.inference.adapters == {}
    assert await jobs.status("GET", f"/v1/models/{job.model}") == 200
    for other in (neighbour, foreign):
        assert (jobs.rows(other), jobs.bytes_of(other)) == before[other.id]
        assert jobs.result_bytes(other).exists()

    assert await jobs.status("DELETE", f"/v1/models/{job.model}") == 200
    await jobs.sweep()
    assert jobs.bytes_of(job) == []
    assert (await jobs.api.call("GET", f"{JOBS}?after={job.id}")).status_code == 200
    jobs.age(job, "25 hours")
    await jobs.sweep()
    assert jobs.rows(job) == {}
    assert jobs.rows(neighbour) == before[neighbour.id][0]


async def test_a_model_loses_its_adapter_when_nothing_else_has_it(jobs: TrainedJobs) -> None:
    job = await jobs.succeeded()
    jobs.age(job, SETTLED)
    await jobs.sweep()
    assert jobs.bytes_of(job) == ALL_STEPS
    copy = jobs.settings.work_dir / "adapters" / job.engine_name(1)
    copy.mkdir(parents=True)
    for name in (job.checkpoint(1), job.model):
        assert await jobs.status("DELETE", f"/v1/models/{name}") == 200
    await jobs.sweep()
    assert jobs.bytes_of(job) == ALL_STEPS[1:], "the second checkpoint has the published adapter"
    assert not copy.exists()
    listed = (await jobs.api.call("GET", f"{JOBS}/{job.id}/checkpoints")).json()["data"]
    assert [each["step_number"] for each in listed] == [3, 2]
    await jobs.status("DELETE", f"/v1/models/{job.checkpoint(2)}")
    await jobs.sweep()
    assert jobs.bytes_of(job) == ALL_STEPS[2:]
    assert jobs.rows(job)["rollouts"] == ROLLOUTS


async def test_a_job_that_has_not_ended_or_is_in_use_is_refused(jobs: TrainedJobs) -> None:
    open_job = await jobs.created()
    reply = await jobs.api.call("DELETE", f"{JOBS}/{open_job}")
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "invalid_state"
    assert "validating_files; only a job that has ended" in reply.json()["error"]["message"]

    job = await jobs.succeeded()
    child = await jobs.created(body={**jobs.body, "model": job.checkpoint(3)})
    reply = await jobs.api.call("DELETE", f"{JOBS}/{job.id}")
    assert reply.status_code == 400
    assert reply.json()["error"]["message"] == (
        f"Job {job.id} cannot be deleted: its checkpoint {job.checkpoint(3)} is used by job "
        f"{child}, which has not ended. Wait for the end, or end it: POST {JOBS}/{child}/cancel "
        "ends the job."
    )
    jobs.age(job, "400 days")
    await jobs.sweep(RetentionSettings(jobs_days=300, checkpoints_days=300))
    assert await jobs.status("GET", f"{JOBS}/{job.id}") == 200, "age does not outweigh use"
    assert jobs.bytes_of(job) == ALL_STEPS[1:]
    await jobs.api.call("POST", f"{JOBS}/{child}/cancel")
    assert await jobs.status("DELETE", f"{JOBS}/{job.id}") == 200


class _DyingObjects(LocalObjects):
    """Fails from a number of deletions on, as if the process were killed there."""

    def __init__(self, root: Path, *, survives: int) -> None:
        super().__init__(root)
        self._left = survives

    @override
    async def delete(self, key: str) -> None:
        self._left -= 1
        if self._left < 0:
            raise RuntimeError("killed")
        await super().delete(key)


@pytest.mark.parametrize("survives", [0, 2])  # two files, then two jobs
async def test_an_interrupted_removal_is_finished_by_the_next_round(
    jobs: TrainedJobs, monkeypatch: pytest.MonkeyPatch, survives: int
) -> None:
    monkeypatch.setattr(expiry, "_ROWS", 3)
    first, second = await jobs.succeeded(), await jobs.succeeded()
    kept = await jobs.succeeded()
    before = (jobs.rows(kept), jobs.bytes_of(kept))
    for job in (first, second):
        for name in (job.model, job.checkpoint(1)):
            await jobs.status("DELETE", f"/v1/models/{name}")
        assert await jobs.status("DELETE", f"{JOBS}/{job.id}") == 200
        jobs.age(job, "2 days")
    with pytest.raises(RuntimeError, match="killed"):
        dying = _DyingObjects(jobs.settings.objects_dir, survives=survives)
        await jobs.sweep(objects=dying)
    await jobs.sweep()
    for job in (first, second):
        assert (jobs.rows(job), jobs.bytes_of(job)) == ({}, [])
    assert (jobs.rows(kept), jobs.bytes_of(kept)) == before


async def test_a_round_that_ends_between_two_batches_of_rows_is_finished(
    jobs: TrainedJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "_ROWS", 2)
    job = await jobs.succeeded()
    await jobs.status("DELETE", f"/v1/models/{job.model}")
    await jobs.status("DELETE", f"{JOBS}/{job.id}")
    jobs.age(job, "2 days")

    def dying(database: Store) -> MaintenanceUnitOfWork:
        if jobs.rows(job)["rollouts"] < ROLLOUTS:
            raise RuntimeError("killed")
        return maintenance(database)

    monkeypatch.setattr(expiry, maintenance.__name__, dying)
    with pytest.raises(RuntimeError, match="killed"):
        await jobs.sweep()
    assert 0 < jobs.rows(job)["rollouts"] < ROLLOUTS
    monkeypatch.setattr(expiry, maintenance.__name__, maintenance)
    await jobs.sweep()
    assert jobs.rows(job) == {}


async def test_old_checkpoints_go_and_the_published_model_stays(jobs: TrainedJobs) -> None:
    old, young = await jobs.succeeded(), await jobs.succeeded()
    jobs.age(old, "31 days")
    jobs.age(young, SETTLED)
    for _ in range(2):
        await jobs.sweep(RetentionSettings(checkpoints_days=30))
    assert (jobs.bytes_of(old), jobs.bytes_of(young)) == (ALL_STEPS[1:2], ALL_STEPS)
    names = [old.checkpoint(1), old.checkpoint(2), old.model, young.checkpoint(1)]
    statuses = [await jobs.status("GET", f"/v1/models/{name}") for name in names]
    assert statuses == [404, 404, 200, 200]
    assert (await jobs.api.call("GET", f"{JOBS}/{old.id}/checkpoints")).json()["data"] == []
    assert await _messages(jobs, old, "removed") == [
        "3 checkpoints were removed: the operator keeps them for 30 days after the end of a job."
    ]
    assert await _messages(jobs, young, "removed") == []


async def test_old_rollouts_go_and_the_report_stays(
    jobs: TrainedJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "_ROWS", 2)
    old, young = await jobs.succeeded(), await jobs.succeeded()
    jobs.age(old, "31 days")
    before = jobs.rows(old)
    for _ in range(2):
        await jobs.sweep(RetentionSettings(rollouts_days=30))
    assert (await jobs.api.call("GET", f"{JOBS}/{old.id}/rollouts")).json()["data"] == []
    after = jobs.rows(old)
    assert (before.pop("rollouts"), before.pop("journal")) == (ROLLOUTS, 1)
    assert after == {**before, "job_events": before["job_events"] + 1}
    assert jobs.rows(young)["rollouts"] == ROLLOUTS
    assert len(await _messages(jobs, old, "rollouts were removed")) == 1


async def test_old_jobs_go_as_if_they_were_deleted(jobs: TrainedJobs) -> None:
    old, young = await jobs.succeeded(), await jobs.succeeded()
    jobs.age(old, "31 days")
    await jobs.sweep(RetentionSettings(jobs_days=30))
    assert await jobs.status("GET", f"{JOBS}/{old.id}") == 404
    assert await jobs.status("GET", f"/v1/models/{old.model}") == 200
    assert (jobs.bytes_of(old), jobs.bytes_of(young)) == (ALL_STEPS[1:2], ALL_STEPS)
    assert jobs.rows(young)["rollouts"] == ROLLOUTS
    assert jobs.rows(old) == {"fine_tuning_jobs": 1, "tuned_models": 4}


async def test_nothing_is_removed_by_age_unless_it_is_set(jobs: TrainedJobs) -> None:
    job = await jobs.succeeded()
    jobs.age(job, "9000 days")
    execute(jobs.database, "UPDATE files SET created_at = created_at - interval '9000 days'")
    rows = jobs.rows(job)
    await jobs.sweep(RetentionSettings())
    del rows["journal"]
    assert (jobs.rows(job), jobs.bytes_of(job)) == (rows, ALL_STEPS)
    assert jobs.result_bytes(job).exists()


async def test_old_files_go_unless_an_unfinished_job_reads_them(jobs: TrainedJobs) -> None:
    open_job = await jobs.created()
    old = (await jobs.api.upload(b"{}\n")).json()["id"]
    execute(jobs.database, "UPDATE files SET created_at = created_at - interval '31 days'")
    young = (await jobs.api.upload(b"{}\n")).json()["id"]
    used = jobs.body["training_file"]
    await jobs.sweep(RetentionSettings(files_days=30))
    statuses = [await jobs.status("GET", f"/v1/files/{one}") for one in (old, young, used)]
    assert statuses == [404, 200, 200]
    stored = {path.name for path in jobs.settings.objects_dir.rglob("file-*")}
    assert (old in stored, young in stored, used in stored) == (False, True, True)
    await jobs.api.call("POST", f"{JOBS}/{open_job}/cancel")
    await jobs.sweep(RetentionSettings(files_days=30))
    assert await jobs.status("GET", f"/v1/files/{used}") == 404


@pytest.mark.parametrize(("trained_tokens", "expected"), [(0, 404), (7, 200)])
async def test_checkpoints_of_a_failed_job_are_callable_only_if_it_trained(
    jobs: TrainedJobs, trained_tokens: int, expected: int
) -> None:
    job = await jobs.failed(trained_tokens=trained_tokens)
    lost = await jobs.left_by_its_workers(trained_tokens=trained_tokens)
    await sweep(LEASED_JOBS, jobs.worker, InMemoryJobQueue(), max_attempts=0)
    assert (await jobs.api.call("GET", f"{JOBS}/{lost.id}")).json()["status"] == "failed"
    for one in (job, lost):
        assert await jobs.status("GET", f"/v1/models/{one.checkpoint(3)}") == expected


async def test_a_deleted_tool_leaves_no_secret_and_later_no_row(
    api: Api, jobs: TrainedJobs
) -> None:
    tool = {"name": "t", "server_url": ENDPOINT, "headers": {"X-Key": "secret"}}
    made = [(await api.call("POST", "/v1/tools", json={**tool, "name": n})).json() for n in "ab"]
    gone, kept = (each["id"] for each in made)
    assert await jobs.status("DELETE", f"/v1/tools/{gone}") == 200
    versions = "SELECT object_id FROM registered_versions WHERE secrets IS NOT NULL"
    assert execute(jobs.database, versions) == [(kept,)]
    heads = "SELECT id FROM registered_objects ORDER BY created_at"
    await jobs.sweep()
    assert execute(jobs.database, heads) == [(gone,), (kept,)]
    execute(
        jobs.database,
        "UPDATE registered_objects SET deleted_at = deleted_at - interval '25h';"
        # A tool that was deleted by an older version has kept its versions.
        "UPDATE registered_objects SET deleted_at = now() - interval '9 days' WHERE id ="
        f" '{(await api.call('POST', '/v1/tools', json={**tool, 'name': 'c'})).json()['id']}'",
    )
    await jobs.sweep()
    assert execute(jobs.database, heads) == [(kept,)]
    assert execute(jobs.database, "SELECT object_id FROM registered_versions") == [(kept,)]


async def _messages(jobs: TrainedJobs, job: TrainedJob, part: str) -> list[str]:
    events = (await jobs.api.call("GET", f"{JOBS}/{job.id}/events?limit=100")).json()["data"]
    return [event["message"] for event in events if part in event["message"]]
