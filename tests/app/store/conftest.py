"""Stores on a fresh database with two tenants and a job of the first."""

from collections.abc import AsyncIterator

import pytest

from app.database import Database
from tests.support import stack
from tests.support.store.rows import Rows
from tests.support.store.tenants import insert_tenant


@pytest.fixture
async def rows(database: stack.Database) -> AsyncIterator[Rows]:
    # One connection each, so that every test also shows that a pooled connection keeps no tenant.
    app = Database(database.app_url, pool_size=1)
    worker = Database(database.worker_url, pool_size=3)
    yield Rows(app, worker, await insert_tenant(app, "one"), await insert_tenant(app, "two"))
    await app.dispose()
    await worker.dispose()
