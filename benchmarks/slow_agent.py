"""The records agent behind slow tools: every call waits a log-normal time, and in a share of the
rollouts ten times as long.

Run it as a separate process; it prints {"url": …} once it listens.
"""

import argparse
import asyncio
import json
import math
import random
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request, Response

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.records_agent.server import create_app

MEDIAN_S, SIGMA, SLOW_SHARE, SLOW_FACTOR = 0.050, 1.0, 0.3, 10.0


@dataclass(slots=True)
class Latencies:
    seed: int = 0
    rollouts: dict[str, int] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    def next(self, trace_id: str) -> float:
        """Seconds of the next call of a rollout."""
        number = self.rollouts.setdefault(trace_id, len(self.rollouts))
        call = self.calls[trace_id] = self.calls.get(trace_id, 0) + 1
        slow = random.Random(f"{self.seed}/{number}").random() < SLOW_SHARE
        latency_s = random.Random(f"{self.seed}/{number}/{call}").lognormvariate(
            math.log(MEDIAN_S), SIGMA
        )
        return latency_s * (SLOW_FACTOR if slow else 1.0)


def slow_app() -> FastAPI:
    app = create_app()
    state = {"latencies": Latencies()}

    @app.middleware("http")
    async def wait(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        if request.url.path == "/restart":
            state["latencies"] = Latencies(int(request.query_params["seed"]))
            return Response()
        if request.url.path == "/tools":
            call = json.loads(await request.body())
            await asyncio.sleep(state["latencies"].next(call["trace_id"]))
        return await call_next(request)

    return app


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    serve(slow_app(), port=parser.parse_args().port)


def serve(app: FastAPI, *, port: int = 0) -> None:
    """Serves until it is stopped; prints its address once it listens."""
    listener = socket.create_server(("127.0.0.1", port), backlog=1024)
    port = listener.getsockname()[1]
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{port}"}) + "\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
