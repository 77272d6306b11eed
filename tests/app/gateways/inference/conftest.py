"""A scripted engine behind a real socket, and a client of it."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from app.models.engine_http import HttpInference
from tests.support.engines.scripted_engine import ScriptedEngine
from tests.support.patience import PATIENCE_S


@pytest.fixture
async def engine() -> AsyncIterator[ScriptedEngine]:
    engine = ScriptedEngine()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", engine.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    engine.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield engine
    await runner.cleanup()


@pytest.fixture
async def inference(engine: ScriptedEngine) -> AsyncIterator[HttpInference]:
    client = HttpInference(engine.url + "/", api_key="sk-engine", timeout_s=PATIENCE_S)
    yield client
    await client.aclose()
