"""The application with two tenants, and a visit of each."""

from collections.abc import AsyncIterator

import pytest

from tests.support.api.application import Api, running
from tests.support.dashboard.visits import Visit, visiting
from tests.support.stack import Database


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with running(database, "127.0.0.1:9") as api:
        yield api


@pytest.fixture
async def guest(api: Api) -> AsyncIterator[Visit]:
    """Nobody has signed in."""
    async with visiting(api.http) as visit:
        yield visit


@pytest.fixture
async def visit(api: Api) -> AsyncIterator[Visit]:
    """A visit with the first project's key."""
    async with visiting(api.http) as visit:
        assert (await visit.sign_in(api.key)).status_code == 303
        yield visit
