"""The example server on a real socket, one per test, with the options the test asks for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from socket import create_server

import httpx
import pytest
import uvicorn

from examples.records_agent.server import Options, create_app

Serve = Callable[[Options], httpx.Client]


@contextmanager
def serving(options: Options) -> Iterator[httpx.Client]:
    listener = create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(create_app(options), log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.005)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=10, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda options: stack.enter_context(serving(options))


@pytest.fixture
def client(serve: Serve) -> httpx.Client:
    return serve(Options())
