"""Fixtures of the HTTP contract that both engines must meet: the CPU engine in every run, vLLM in
`make test-vllm`.
"""

from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from app.models.engine_http import HttpInference
from app.settings import ModelSettings
from tests.support.engines.contract import ENGINES, KEY, World, running


@pytest.fixture(scope="session", params=ENGINES)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    spec = ModelSettings().base_models[0]
    with running(request.param, spec, tmp_path_factory.mktemp("engine")) as url:
        yield World(request.param, url, spec)


@pytest.fixture
async def inference(world: World) -> AsyncIterator[HttpInference]:
    """A client that unloads all adapters at the end of a test."""
    client = HttpInference(world.url, api_key=KEY, timeout_s=60)
    yield client
    for name in await client.model_names():
        if name != world.spec.name:
            await client.unload_adapter(name)
    await client.aclose()


@pytest.fixture
async def http(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(world.url, headers=world.headers) as session:
        yield session
