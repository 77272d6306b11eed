"""A running service with an engine behind it, and a job that has ended."""

from collections.abc import Iterator

import pytest

from tests.support.cli.remote_commands import Commands, new_job
from tests.support.contract.service import Service, running_service
from tests.support.dashboard.scenes import train
from tests.support.stack import Services


@pytest.fixture(scope="package")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("remote")) as running:
        yield running


@pytest.fixture(scope="package")
def commands(service: Service) -> Commands:
    return Commands(service)


@pytest.fixture(scope="package")
def trained(service: Service) -> str:
    """Returns the id of a job with twelve steps, rollouts and a report."""
    job = new_job(service, suffix="trained")
    train(service.database, job)
    return job


@pytest.fixture
def job(service: Service) -> str:
    """Returns the id of a job that waits for a worker."""
    return new_job(service)
