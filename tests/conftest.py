"""Fixtures every test may ask for; the servers start with the first test that needs them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack import Database, Services, running_services


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
