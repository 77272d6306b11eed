"""Compares HTTP clients under the rollout burst: 512 rollouts, each with calls in sequence.

The server is a process of its own on loopback: it answers every POST with a small tool reply after
50 ms, as an idle tool would. Each client runs in a separate process, so that its peak memory and
CPU time can be measured. Prints one table and a JSON line.

    python benchmarks/http_clients.py [--rollouts 512] [--calls 10] [--service-ms 50] [--repeats 3]
"""

import argparse
import asyncio
import importlib.util
import json
import resource
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from typing_extensions import override

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.kit.egress import EgressPolicy, EgressRequest  # noqa: E402 - needs the path above
from app.kit.egress_client import EgressClient  # noqa: E402 - needs the path above

BODY = json.dumps(
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search"}
    | {"arguments": '{"query": "what is it"}', "trace_id": "trace_1", "item": {}}
).encode()
REPLY = json.dumps({"type": "function_call_output", "output": "a record " * 40}).encode()
HEADERS = {"Authorization": "Bearer key", "webhook-id": "call_1", "webhook-timestamp": "1"}
Post = Callable[[], Awaitable[int]]


class _FixedReplyServer(asyncio.Protocol):
    """A minimal HTTP server, so that the measurement shows the client."""

    service_s = 0.05

    def __init__(self) -> None:
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(body) >= length:
            self._buffer = body[length:]
            asyncio.get_running_loop().call_later(self.service_s, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            self._transport.write(b"content-length: %d\r\n\r\n%b" % (len(REPLY), REPLY))


async def serve(service_s: float) -> None:
    _FixedReplyServer.service_s = service_s
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_FixedReplyServer, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@asynccontextmanager
async def egress_client(url: str, _: int) -> AsyncIterator[Post]:
    """Yields the guarded client that rollouts use."""
    allowed = frozenset({url.removeprefix("http://").partition("/")[0]})
    client = EgressClient(EgressPolicy(allowed, allow_plain_http=True))

    async def post() -> int:
        reply = await client.send(EgressRequest(url, HEADERS, BODY, timeout_s=600))
        return len(reply.body)

    yield post
    await client.aclose()


@asynccontextmanager
async def aiohttp_client(url: str, rollouts: int) -> AsyncIterator[Post]:
    connector = aiohttp.TCPConnector(limit=rollouts)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post() -> int:
            async with session.post(url, data=BODY, headers=HEADERS) as response:
                return len(await response.read())

        yield post


def httpx_client(module: str) -> Callable[[str, int], Any]:
    @asynccontextmanager
    async def client(url: str, rollouts: int) -> AsyncIterator[Post]:
        library: Any = importlib.import_module(module)
        limits = library.Limits(max_connections=rollouts, max_keepalive_connections=rollouts)
        # No TLS here: building its trust store would be charged to the client.
        async with library.AsyncClient(
            limits=limits,
            timeout=600,
            trust_env=False,
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        ) as session:

            async def post() -> int:
                return len((await session.post(url, content=BODY, headers=HEADERS)).content)

            yield post

    return client


CLIENTS: dict[str, Callable[[str, int], Any]] = {
    "EgressClient (aiohttp)": egress_client,
    "aiohttp": aiohttp_client,
    "httpx": httpx_client("httpx"),
    "httpx2": httpx_client("httpx2"),
}


async def measure(name: str, url: str, rollouts: int, calls: int) -> dict[str, float | str]:
    latencies: list[float] = []
    stall = 0.0

    async def watch() -> None:
        nonlocal stall
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            stall = max(stall, time.perf_counter() - before - 0.005)

    async with CLIENTS[name](url, rollouts) as post:

        async def rollout() -> None:
            for _ in range(calls):
                started = time.perf_counter()
                assert await post() == len(REPLY)
                latencies.append(time.perf_counter() - started)

        watching = asyncio.create_task(watch())
        memory, cpu, started = peak_mib(), time.process_time(), time.perf_counter()
        await asyncio.gather(*(rollout() for _ in range(rollouts)))
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        watching.cancel()
    assert len(latencies) == rollouts * calls
    ordered = sorted(latencies)
    return {
        "client": name,
        "calls_per_s": len(latencies) / wall,
        "p50_ms": 1e3 * statistics.median(ordered),
        "p95_ms": 1e3 * ordered[int(0.95 * len(ordered))],
        "p99_ms": 1e3 * ordered[int(0.99 * len(ordered))],
        "cpu_ms_per_call": 1e3 * cpu / len(latencies),
        "worst_stall_ms": 1e3 * stall,
        "rss_growth_mib": peak_mib() - memory,
    }


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_child(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def median_row(rows: list[dict[str, Any]]) -> dict[str, Any]:
    numbers = {key for key in rows[0] if key != "client"}
    return {"client": rows[0]["client"]} | {
        key: round(statistics.median(row[key] for row in rows), 3)
        for key in rows[0]
        if key in numbers
    }


def compare(options: argparse.Namespace) -> None:
    server = in_child("--serve", "--service-ms", str(options.service_ms))
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/tool"
        names = [name for name in CLIENTS if importlib.util.find_spec(_module(name))]
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for _ in range(options.repeats):  # alternating, so that a busy minute is nobody's alone
            for name in names:
                runs[name].append(_run_client(name, url, options))
    finally:
        server.kill()
        server.communicate()
    rows = [median_row(run) for run in runs.values()]
    print(f"{options.rollouts} rollouts x {options.calls} calls, {options.service_ms} ms service,")
    print(f"median of {options.repeats} runs, Python {sys.version.split()[0]}\n")
    columns = list(rows[0])
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(_cell(row[column]) for column in columns) + " |")
    settings = {key: getattr(options, key) for key in ("rollouts", "calls", "service_ms")}
    print("\n" + json.dumps({"benchmark": "http_clients", **settings, "rows": rows}))


def _module(name: str) -> str:
    return "aiohttp" if "aiohttp" in name else name


def _run_client(name: str, url: str, options: argparse.Namespace) -> dict[str, Any]:
    sizes = ("--rollouts", str(options.rollouts), "--calls", str(options.calls))
    with in_child("--client", name, "--url", url, *sizes) as child:
        output, _ = child.communicate()
    assert child.returncode == 0, name
    row: dict[str, Any] = json.loads(output)
    return row


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.2f}" if value < 10 else f"{value:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rollouts", type=int, default=512)
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--service-ms", type=float, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.service_ms / 1e3))
    elif options.client:
        sizes = (options.rollouts, options.calls)
        print(json.dumps(asyncio.run(measure(options.client, options.url, *sizes))))
    else:
        compare(options)


if __name__ == "__main__":
    main()
