"""The application, a valid call on files of 32 and 10 rows, and trial runs of graders."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api.application import Api, running
from tests.support.api.preflight import create_call
from tests.support.endpoints import EndpointServer, ReceivedRequest, Reply, endpoint
from tests.support.registry.trials import Trials, serving
from tests.support.sandbox.running import RunningSandbox
from tests.support.stack import Database


@pytest.fixture
async def customer() -> AsyncIterator[EndpointServer]:
    def script(request: ReceivedRequest) -> Reply:
        if request.path == "/grade" and request.body:
            return Reply(json={"score": 1.0})
        if b'"function_call"' in request.body:
            return Reply(json={"output": "Error: the arguments are no JSON"})
        return Reply(405)

    async with endpoint(script) as server:
        yield server


@pytest.fixture
async def api(database: Database, customer: EndpointServer) -> AsyncIterator[Api]:
    async with running(database, customer.host_port) as api:
        yield api


@pytest.fixture
async def call(api: Api, customer: EndpointServer) -> dict[str, Any]:
    return await create_call(api, customer)


@pytest.fixture
async def trials(database: Database, sandbox: RunningSandbox) -> AsyncIterator[Trials]:
    async with serving(database, sandbox=sandbox.socket) as running_trials:
        yield running_trials
