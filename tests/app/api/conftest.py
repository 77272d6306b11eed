"""The application on a fresh database with two tenants, called over ASGI."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.database import Database as Store
from app.wiring import provisioning_service
from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.organization import Admin
from tests.support.stack import Database


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with running(database, "127.0.0.1:9") as api:
        yield api


@pytest.fixture
async def files(api: Api) -> tuple[str, str]:
    content = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
    return (await api.upload(content)).json()["id"], (await api.upload(content)).json()["id"]


@pytest.fixture
def body(files: tuple[str, str]) -> dict[str, Any]:
    """Returns the body of a valid create call."""
    return {
        "model": "tiny-agent",
        "training_file": files[0],
        "validation_file": files[1],
        "method": {
            "type": "reinforcement",
            "reinforcement": {
                "tools": [
                    {"name": "search", "server_url": ENDPOINT, "headers": {"X-Key": "secret-1"}}
                ],
                "grader": {"type": "endpoint", "url": ENDPOINT, "rate_limit": 50},
                "hyperparameters": {"n_epochs": 1},
            },
        },
    }


@pytest.fixture
def admin(api: Api) -> Admin:
    return Admin(api, api.admin_key)


@pytest.fixture
async def stranger(api: Api, database: Database) -> Admin:
    """The administration of the other organization."""
    store = Store(database.settings.database_url, pool_size=1)
    provisioned = await provisioning_service(database.settings, store).provision(
        slug="second", title="Second", project_name="p"
    )
    await store.dispose()
    return Admin(api, provisioned.admin_key)
