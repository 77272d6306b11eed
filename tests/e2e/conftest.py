"""One installation, example agent and finished job for the end-to-end tests, until the last.

The scope is the package, so that no installation runs beside the tests of other folders.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.local.state import free_port
from tests.support.e2e.main_job import EVAL_INTERVAL, TRAIN_ROWS, VALID_ROWS, Endpoints, FinishedJob
from tests.support.e2e.monitoring import KEY
from tests.support.embedded.installation import (
    Installation,
    example_agent,
    installation,
    processes_below,
    wait_until_final,
)
from tests.support.embedded.jobs import create_job, upload_dataset


@pytest.fixture(scope="package")
def endpoints() -> Iterator[Endpoints]:
    dead, hook, silent = (f"http://127.0.0.1:{free_port()}" for _ in range(3))
    with (
        example_agent() as good,
        example_agent("--fail-share", "0.33", "--fail-key", "call") as faulty,
    ):
        yield Endpoints(good=good, faulty=faulty, dead=dead, hook=hook, silent=silent)


@pytest.fixture(scope="package")
def live(endpoints: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    allowed = [
        url.removeprefix("http://")
        for url in (
            endpoints.good,
            endpoints.faulty,
            endpoints.dead,
            endpoints.hook,
            endpoints.silent,
        )
    ]
    directory = tmp_path_factory.mktemp("installation") / "data"
    with installation(
        directory,
        allow=allowed,
        LEASE__LEASE_S="6",
        LEASE__SWEEP_INTERVAL_S="1",
        # The endpoints answer in the process of the tests, which a busy machine may hold up.
        EGRESS__CALL_TIMEOUT_S="20",
        RUNS__WAITING_LIMIT_S="3",
        MONITORING_KEY=KEY,
    ) as running:
        yield running
    assert processes_below(directory) == []
    assert not (directory / "services.json").exists()


@pytest.fixture(scope="package")
def files(live: Installation, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    directory = tmp_path_factory.mktemp("dataset")
    return upload_dataset(live.client(), directory, train=TRAIN_ROWS, valid=VALID_ROWS)


@pytest.fixture(scope="package")
def finished(live: Installation, endpoints: Endpoints, files: tuple[str, str]) -> FinishedJob:
    """The main job: steps of 8 prompts × 8 rollouts."""
    client = live.client()
    created = create_job(client, endpoints.good, files, eval_interval=EVAL_INTERVAL)
    job = wait_until_final(client, created.id)
    assert job.status == "succeeded", job.error
    return FinishedJob(created, job)


@pytest.fixture
def small_files(live: Installation, tmp_path: Path) -> tuple[str, str]:
    return upload_dataset(live.client(), tmp_path, train=24, valid=10)
