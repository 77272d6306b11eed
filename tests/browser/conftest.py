"""The service on a real socket, and a browser in front of it."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from app.settings import EgressSettings
from tests.support.api.application import Api
from tests.support.dashboard.browser import Tab, browsing, missing
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database
from tests.support.web.api_server import ApiServer, running_api


@pytest.fixture
def server(database: Database) -> Iterator[ApiServer]:
    if reason := missing():
        pytest.skip(reason)
    egress = EgressSettings(allow_endpoints=("127.0.0.1:9",), allow_plain_http=True)
    with running_api(database.settings.model_copy(update={"egress": egress})) as server:
        yield server


@pytest.fixture
async def api(server: ApiServer) -> AsyncIterator[Api]:
    root = server.base_url.removesuffix("/v1")
    async with httpx.AsyncClient(base_url=root, timeout=PATIENCE_S) as http:
        yield Api(http, server.key, server.other_key, server.admin_key)


@pytest.fixture
async def tab(server: ApiServer) -> AsyncIterator[Tab]:
    async with browsing(server.base_url.removesuffix("/v1")) as tab:
        yield tab
        assert tab.problems == []
