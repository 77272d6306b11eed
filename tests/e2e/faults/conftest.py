"""The uninterrupted run of the job that the tests disturb."""

import pytest

from tests.support.e2e.main_job import Endpoints
from tests.support.e2e.quiet_job import TRAIN_ROWS, VALID_ROWS, QuietJob, quiet_job
from tests.support.embedded.installation import Installation
from tests.support.embedded.jobs import upload_dataset


@pytest.fixture(scope="package")
def quiet_files(live: Installation, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    directory = tmp_path_factory.mktemp("quiet")
    return upload_dataset(live.client(), directory, train=TRAIN_ROWS, valid=VALID_ROWS)


@pytest.fixture(scope="package")
def quiet(live: Installation, endpoints: Endpoints, quiet_files: tuple[str, str]) -> QuietJob:
    return quiet_job(live, endpoints.good, quiet_files)
