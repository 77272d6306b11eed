import pytest

from tests.support.policies import Writer


@pytest.fixture(scope="session")
def writer() -> Writer:
    return Writer()
