"""Runs the API in a separate process on a real Postgres, and measures its memory and the lag of its
event loop.

Peak memory is the kernel's (`VmHWM`, reset between cases); the lag is the longest time the event
loop let a 2 ms timer wait, reported by the process on an extra path.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.local.layout import environment_of  # noqa: E402 - needs the path above
from app.main import create_app  # noqa: E402 - as above
from tests.support.stack import running_services  # noqa: E402 - as above
from tests.support.web.api_server import make_keys  # noqa: E402 - as above

LAG_PATH = "/lag"
_TICK_S = 0.002


@dataclass(frozen=True, slots=True)
class ApiProcess:
    port: int
    pid: int
    key: str
    directory: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def status_kib(self, name: str) -> int:
        """`VmRSS` or `VmHWM`, in KiB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
        raise ValueError(name)

    def reset(self) -> int:
        """Starts a case: resets peak and lag. Returns the current memory in KiB."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        httpx.get(f"{self.url}{LAG_PATH}", timeout=60)
        return self.status_kib("VmRSS")

    def lag_ms(self) -> float:
        return float(httpx.get(f"{self.url}{LAG_PATH}", timeout=60).json())


def measured() -> ASGIApp:
    """Creates the application for uvicorn, and measures the lag of its loop."""
    app, worst = create_app(), [0.0]
    watch: list[asyncio.Task[None]] = []

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(_TICK_S)
            worst[0] = max(worst[0], time.perf_counter() - began - _TICK_S)

    async def with_lag(scope: Scope, receive: Receive, send: Send) -> None:
        if not watch:
            watch.append(asyncio.create_task(tick()))
        if scope["type"] == "http" and scope["path"] == LAG_PATH:
            body, worst[0] = json.dumps(1000 * worst[0]).encode(), 0.0
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})
            return
        await app(scope, receive, send)

    return with_lag


@contextmanager
def api_process(factory: str = "benchmarks.api_process:measured") -> Iterator[ApiProcess]:
    with tempfile.TemporaryDirectory() as name:
        directory, data = Path(name), Path(name) / "data"
        directory.chmod(0o755)  # Postgres runs as an ordinary user below it
        with running_services(directory) as services, services.database(data) as database:
            key, *_ = asyncio.run(make_keys(database.settings))
            environment = environment_of(database.settings)
            with uvicorn_process(factory, environment) as (port, pid):
                yield ApiProcess(port, pid, key, directory)


@contextmanager
def uvicorn_process(factory: str, environment: dict[str, str]) -> Iterator[tuple[int, int]]:
    """Runs a server on loopback; yields its port and process id once it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "uvicorn", factory, "--factory", "--port", str(port)]
    command += ["--http", "app.http.protocol:Protocol", "--log-level", "critical"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            _wait(port, server)
            yield port, server.pid
        finally:
            server.terminate()


def _wait(port: int, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError("the server did not start")
        try:
            httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the server does not answer")
