"""The example server on a real socket, one per test, with the options the test asks for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from socket import create_server

import httpx
import pytest
import uvicorn

from examples.records_agent.server import Options, create_app
from tests.support.patience import PATIENCE_S, wait_for

Serve = Callable[[Options], httpx.Client]


@contextmanager
def serving(options: Options) -> Iterator[httpx.Client]:
    listener = create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(create_app(options), log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    wait_for(lambda: server.started, what="the tool server")
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=PATIENCE_S, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listener.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda options: stack.enter_context(serving(options))


@pytest.fixture
def client(serve: Serve) -> httpx.Client:
    return serve(Options())
