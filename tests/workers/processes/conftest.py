import pytest

from tests.support.processes.child_processes import warm_up


@pytest.fixture(scope="session", autouse=True)
def _warm_fork_server() -> None:
    warm_up()
