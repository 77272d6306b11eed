"""Fixtures every test may ask for; the servers start with the first test that needs them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack import Database, Services, running_services


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several processes a file stays in one of them, because its fixtures are costly, and so
    do all end-to-end files, which share an installation. Those take longest, so they begin.
    """
    for item in items:
        group = "e2e" if _is_end_to_end(item) else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: not _is_end_to_end(item))


def _is_end_to_end(item: pytest.Item) -> bool:
    return item.path.parent.name == "e2e"


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Postgres and Valkey for the whole run."""
    with running_services(tmp_path_factory.mktemp("services")) as running:
        yield running


@pytest.fixture
def database(services: Services, tmp_path: Path) -> Iterator[Database]:
    """A fresh database with the current schema, and settings for every role."""
    with services.database(tmp_path) as fresh:
        yield fresh
