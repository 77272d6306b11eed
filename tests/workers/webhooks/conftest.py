"""A worker's ports on a fresh database, and a receiver with a script of replies."""

from collections.abc import AsyncIterator

import pytest

from app.database import Database
from app.kit.sealing import SecretBox
from tests.support import stack
from tests.support.store.tenants import insert_tenant
from tests.support.webhooks.scene import Scene


@pytest.fixture
async def scene(database: stack.Database) -> AsyncIterator[Scene]:
    app = Database(database.app_url, pool_size=2)
    worker = Database(database.worker_url, pool_size=4)
    box = SecretBox(database.settings.secret_key.get_secret_value())
    scene = Scene(
        database,
        app,
        worker,
        await insert_tenant(app, "one"),
        await insert_tenant(app, "two"),
        box,
        [],
    )
    yield scene
    for client in scene.clients:
        await client.aclose()
    await app.dispose()
    await worker.dispose()
