"""Long turns of a working engine pass, and an engine that stands still is noticed."""

import asyncio
import inspect
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from app import wiring as process
from app.models.engine import Completion, EngineUnavailable
from app.models.engine_http import HttpInference
from tests.support.patience import PATIENCE_S
from workers.processes import clients

STILL_S = 1.2
"""The counters are read twelve times in it."""
LONG_TURN = 16
"""Reads of the counters until a turn ends, in more than `STILL_S`."""
REPLY = {
    "choices": [{"token_ids": [7], "finish_reason": "stop", "logprobs": {"token_logprobs": [-0.5]}}]
}


class Engine:
    """Answers its probe always, and a turn once its counters were read often enough."""

    def __init__(self, *, has_counters: bool, computes: bool) -> None:
        self.has_counters, self.computes = has_counters, computes
        self.reads = 0
        self.done = asyncio.Event()
        self.url = ""

    async def complete(self, _request: web.Request) -> web.Response:
        await self.done.wait()
        return web.json_response(REPLY)

    async def health(self, _request: web.Request) -> web.Response:
        if not self.has_counters:
            self._read()
        return web.Response()

    async def metrics(self, _request: web.Request) -> web.Response:
        if not self.has_counters:
            raise web.HTTPNotFound
        self._read()
        count = self.reads if self.computes else 5
        lines = f"# HELP x\nvllm:iteration_tokens_total_count {count}\nhttp_requests {self.reads}\n"
        for name in ("waiting", "running"):  # arrivals change them, in a stuck engine too
            gauge = f"vllm:num_requests_{name}"
            lines += f'# TYPE {gauge} gauge\n{gauge}{{engine="0"}} {self.reads}\n'
        return web.Response(text=lines)

    def _read(self) -> None:
        self.reads += 1
        if self.reads >= LONG_TURN:
            self.done.set()


@pytest.fixture
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[Engine]:
    engine = Engine(**request.param)
    app = web.Application()
    app.router.add_post("/v1/completions", engine.complete)
    app.router.add_get("/health", engine.health)
    app.router.add_get("/metrics", engine.metrics)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    engine.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield engine
    engine.done.set()
    await runner.cleanup()


async def _turn(client: HttpInference) -> Completion:
    turn = client.complete("m", [1], max_tokens=1, temperature=1, seed=0, stop_token_ids=())
    return await asyncio.wait_for(turn, PATIENCE_S)


@pytest.mark.parametrize(
    "engine",
    [{"has_counters": True, "computes": True}, {"has_counters": False, "computes": True}],
    indirect=True,
    ids=["counters", "probe only"],
)
async def test_a_turn_lasts_as_long_as_the_engine_computes(engine: Engine) -> None:
    marks: list[int] = []
    client = HttpInference(
        engine.url, timeout_s=0.5, still_s=STILL_S, on_progress=lambda: marks.append(engine.reads)
    )
    completions = await asyncio.gather(_turn(client), _turn(client))
    await client.aclose()
    assert [one.token_ids for one in completions] == [(7,), (7,)]
    assert engine.reads >= LONG_TURN
    assert len(marks) > 1, "a run that waits for it makes progress"


@pytest.mark.parametrize("engine", [{"has_counters": True, "computes": False}], indirect=True)
async def test_an_engine_that_answers_its_probe_and_computes_nothing_is_unavailable(
    engine: Engine,
) -> None:
    client = HttpInference(engine.url, still_s=STILL_S)
    with pytest.raises(EngineUnavailable, match="computes nothing"):
        await _turn(client)
    await client.aclose()
    assert 0 < engine.reads < LONG_TURN


def test_both_planes_notice_it_within_a_minute() -> None:
    assert inspect.signature(HttpInference).parameters["still_s"].default == 60
    for factory in (process, clients):
        source = inspect.getsource(factory)
        assert source.count("HttpInference(") == 1
        assert "still_s" not in source
