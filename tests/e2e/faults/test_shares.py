"""Many jobs and a grader that never answers: another project's first job waits for one step."""

from contextlib import suppress
from pathlib import Path

import httpx
from openai import BadRequestError, OpenAI

from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation
from tests.support.embedded.jobs import create_job, records_method, upload_dataset
from tests.support.endpoints import ReceivedRequest, Reply, endpoint_in_thread
from tests.support.patience import PATIENCE_S, wait_for

JOBS = 20
STARTED = "Fine-tuning job started"


def test_a_hanging_tenant_delays_another_ones_first_job_by_one_step(
    live: Installation, endpoints: Endpoints, small_files: tuple[str, str], tmp_path: Path
) -> None:
    """Counts steps and claims, not seconds. There is one worker."""
    first, second = live.client(), _another_project(live)
    files = upload_dataset(second, tmp_path, train=24, valid=10)
    method = records_method(endpoints.good)
    with endpoint_in_thread(_never, port=endpoints.silent_port) as silent:
        method["reinforcement"]["grader"]["url"] = silent.url("/grade")
        ids = [
            first.fine_tuning.jobs.create(
                model="tiny-agent",
                training_file=small_files[0],
                validation_file=small_files[1],
                method=method,
            ).id
            for _ in range(JOBS)
        ]
        wait_for(lambda: len(silent.received) > 0, what="a call that hangs")
        created = create_job(second, endpoints.good, files)
        assert second.fine_tuning.jobs.retrieve(created.id).to_dict()["queue_position"] == 1
        _until_started(second, created.id)
        try:
            jobs = [live.get(f"/fine_tuning/jobs/{job_id}") for job_id in ids]
            assert sum(job["step"] for job in jobs) <= 1
            assert [job_id for job_id in ids if _has_begun(live, job_id)] == [ids[0]]
        finally:
            _cancel(first, ids)
            _cancel(second, [created.id])


async def _never(_: ReceivedRequest) -> Reply:
    return Reply(200, delay_s=3600)


def _another_project(live: Installation) -> OpenAI:
    headers = {"Authorization": f"Bearer {live.admin_key}"}
    projects = f"{live.base_url}/organization/projects"
    project = httpx.post(
        projects, json={"name": "neighbour"}, headers=headers, timeout=PATIENCE_S
    ).json()
    accounts = f"{projects}/{project['id']}/service_accounts"
    account = httpx.post(
        accounts, json={"name": "neighbour"}, headers=headers, timeout=PATIENCE_S
    ).json()
    return OpenAI(base_url=live.base_url, api_key=account["api_key"]["value"], max_retries=5)


def _has_begun(live: Installation, job_id: str) -> bool:
    events = live.get(f"/fine_tuning/jobs/{job_id}/events", limit=100)["data"]
    return STARTED in {event["message"] for event in events}


def _until_started(client: OpenAI, job_id: str) -> None:
    def started() -> bool:
        events = client.fine_tuning.jobs.list_events(job_id, limit=100).data
        return STARTED in {event.message for event in events}

    wait_for(started, what="the neighbour's job")


def _cancel(client: OpenAI, job_ids: list[str]) -> None:
    for job_id in job_ids:
        with suppress(BadRequestError):  # it has ended
            client.fine_tuning.jobs.cancel(job_id)
