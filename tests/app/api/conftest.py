"""The application on a fresh database with two tenants, called over ASGI."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import ENDPOINT, Api, running
from tests.support.api.organization import Admin
from tests.support.stack import Database
from tests.support.store.provisioned import provisioned
from tests.support.store.uploaded_files import uploaded


@pytest.fixture
async def api(database: Database) -> AsyncIterator[Api]:
    async with running(database, "127.0.0.1:9") as api:
        yield api


@pytest.fixture
def files(api: Api, database: Database) -> tuple[str, str]:
    content = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
    first, second = (uploaded(database, api.project_id, content) for _ in range(2))
    return first, second


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
    [provisioned_keys] = await provisioned(database, database.settings, "second")
    return Admin(api, provisioned_keys.admin_key)
