import pytest

from tests.support.rollout.policies import Writer


@pytest.fixture(scope="session")
def writer() -> Writer:
    return Writer()
