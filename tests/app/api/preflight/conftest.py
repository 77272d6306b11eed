"""A valid call of `validate`, and the customer's endpoint that it names."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import Api, running
from tests.support.api.preflight import create_call
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.stack import Database


@pytest.fixture
async def customer() -> AsyncIterator[EndpointServer]:
    def script(request: ReceivedRequest) -> Reply:
        if request.path == "/grade" and request.body:
            return Reply(json={"score": 1.0})
        if b'"function_call"' in request.body:
            return Reply(json={"output": "Error: the arguments are no JSON"})
        return Reply({"/broken": 503, "/posts-only": 501}.get(request.path, 405))

    async with endpoint(script) as server:
        yield server


@pytest.fixture
async def api(database: Database, customer: EndpointServer) -> AsyncIterator[Api]:
    async with running(database, customer.host_port, "127.0.0.1:9") as api:
        yield api


@pytest.fixture
async def call(api: Api, customer: EndpointServer) -> dict[str, Any]:
    return await create_call(api, customer)
