"""The application behind uvicorn on a real socket, in a thread of the test process."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from app.database import Database as Store
from app.settings import Settings
from app.wiring import provisioning_service
from tests.support.web.application import application


@dataclass(frozen=True, slots=True)
class ApiServer:
    """`base_url` ends in `/v1`. The keys are of two projects of two organizations."""

    base_url: str
    key: str
    other_key: str
    admin_key: str
    """The key of the first organization."""

    @property
    def address(self) -> tuple[str, int]:
        """Returns host and port, for requests that no client would make."""
        host, port = self.base_url.removeprefix("http://").removesuffix("/v1").split(":")
        return host, int(port)


@contextmanager
def running_api(settings: Settings) -> Iterator[ApiServer]:
    keys = asyncio.run(make_keys(settings))
    config = uvicorn.Config(
        application(settings),
        http="app.http.protocol:Protocol",
        loop="asyncio",
        host="127.0.0.1",
        port=0,
        log_level="warning",
        lifespan="on",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the API did not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield ApiServer(f"http://127.0.0.1:{port}/v1", *keys)
    finally:
        server.should_exit = True
        thread.join()


async def make_keys(settings: Settings) -> tuple[str, str, str]:
    store = Store(settings.database_url, pool_size=1)
    try:
        provisioning = provisioning_service(settings, store)
        first = await provisioning.provision(slug="first", title="First", project_name="p")
        second = await provisioning.provision(slug="second", title="Second", project_name="p")
    finally:
        await store.dispose()
    return first.api_key, second.api_key, first.admin_key
