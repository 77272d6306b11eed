"""A tool behind HTTP whose latency is log-normal, for rollouts that wait for tools.

Run as a process of its own: `python benchmarks/slow_tool.py PORT`.
"""

import asyncio
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

sys.path.insert(0, str(Path(__file__).parents[1]))

from app.local.state import free_port

MEDIAN_S = 0.050
SIGMA = 1.0
REPLY_TOKENS = 16


def latency_s(rollout: int, turn: int) -> float:
    return random.Random(f"{rollout}/{turn}").lognormvariate(math.log(MEDIAN_S), SIGMA)


async def _answer(request: web.Request) -> web.Response:
    body = await request.json()
    rollout, turn = int(body["rollout"]), int(body["turn"])
    await asyncio.sleep(latency_s(rollout, turn))
    rng = random.Random(f"reply {rollout}/{turn}")
    return web.json_response({"token_ids": [rng.randrange(10, 500) for _ in range(REPLY_TOKENS)]})


class SlowTool:
    """Client of a running tool."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opened: aiohttp.ClientSession | None = None

    async def call(self, rollout: int, turn: int) -> list[int]:
        """Returns the reply's token ids."""
        if self._opened is None:
            self._opened = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        body = {"rollout": rollout, "turn": turn}
        async with self._opened.post(self._url, json=body) as response:
            reply = await response.json()
        return [int(token) for token in reply["token_ids"]]

    async def aclose(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None


@contextmanager
def running_tool() -> Iterator[str]:
    """URL of the tool in a process of its own."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, __file__, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        if process.stdout is None or not process.stdout.readline():
            raise RuntimeError("the tool did not start")
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


async def _serve(port: int) -> None:
    app = web.Application()
    app.router.add_post("/", _answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
